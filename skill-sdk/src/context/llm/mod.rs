//! The language model of a call.
//!
//! [`SkillContext::llm`] gives the installation's model: the environment of the host says which, so a skill names none.
//! An answer is JSON that fits a type of yours; what the model was asked, and how often, is not the skill's business.
//!
//! ```no_run
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use skill_sdk::{ChatRequest, SkillContext, SkillError, skill};
//!
//! /// Whether a claim is urgent, and why.
//! #[derive(Debug, Deserialize, Serialize, JsonSchema)]
//! struct Verdict {
//!     urgent: bool,
//!     reason: String,
//! }
//!
//! /// Whether a claim is urgent.
//! #[skill("claims.triage", version = "1", side_effects = "none", risk = "low")]
//! async fn triage(text: String, ctx: &SkillContext) -> Result<Verdict, SkillError> {
//!     let answer = ctx
//!         .llm()?
//!         .chat_json::<Verdict>(ChatRequest::new("You triage claims.").user(&text))
//!         .await?;
//!     Ok(answer.data)
//! }
//! ```
//!
//! Before any model sees a text, personal data in it is replaced: see [`pii`](crate::pii). The tokens of a call are added
//! to its cost, also when the call fails. A model never works longer than the call: when its time is up or its caller goes
//! away, the request is dropped and a child process is killed.
//!
//! # Codes
//!
//! All are retryable but the last one.
//!
//! | code | when |
//! |---|---|
//! | `llm_not_configured` | a variable of the host is missing or unusable; the message names it |
//! | `llm_unavailable` | the program that asks the model is not there or does not start |
//! | `llm_rate_limited` | the last model that was asked takes no more requests for now |
//! | `llm_timeout` | the model did not answer within `SKILL_LLM_TIMEOUT_SECONDS` |
//! | `llm_failed` | the model or the way to it failed otherwise |
//! | `llm_invalid_response` | no model gave JSON that fits, also not when told what was wrong |
//! | `llm_schema_unusable` | no JSON object can be read as the type that is asked for |
//!
//! - `request`: what a skill asks; `model`: what a provider is asked, and its answer
//! - `client`: which provider there is; `settings`: what the environment says about it
//! - `chat`: one conversation: the guard, the rotation, the repair, the time, the tokens
//! - `answer`: from the text of a model to a value of a type
//! - `openai`, `claude`: the providers

mod answer;
mod chat;
mod claude;
mod client;
mod model;
mod openai;
mod request;
mod settings;
#[cfg(test)]
mod tests;

use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use self::answer::Wanted;
pub use self::claude::ClaudeCode;
pub use self::client::{LlmClient, configure_llm};
pub use self::model::{Asked, ChatError, ChatModel, Correction, Prompt, Reply, ResponseSchema};
pub use self::openai::OpenAi;
pub use self::request::{ChatRequest, Message, Role};
use super::{LlmUsage, SkillContext};
use crate::error::SkillError;

impl SkillContext {
    /// The installation's language model: that of [`configure_llm`], else the one that `SKILL_LLM_PROVIDER` chooses.
    /// Needs feature `llm`.
    ///
    /// The codes of a failure are `llm_not_configured` and `llm_unavailable`; for those of a call see [`llm`](self).
    pub fn llm(&self) -> Result<Llm, SkillError> {
        let client = match &self.services().llm {
            Some(client) => client.clone(),
            None => LlmClient::of_installation(self.environment())?,
        };
        Ok(Llm {
            context: self.clone(),
            client,
        })
    }
}

/// The language model, as one call may use it: see [`SkillContext::llm`].
#[derive(Clone)]
pub struct Llm {
    context: SkillContext,
    client: LlmClient,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChatAnswer<T> {
    /// The answer.
    pub data: T,
    /// What the whole conversation used: all models that were asked, and all repairs.
    pub usage: LlmUsage,
    /// The model that gave the answer.
    pub model: String,
}

impl Llm {
    /// Asks for an answer of type `T`, a JSON object.
    ///
    /// The schema of `T` goes to the model; its doc comments are what the model knows of the fields. The answer is checked
    /// against the same schema. One that does not fit is sent back once, with what is wrong, before the next model is
    /// asked.
    pub async fn chat_json<T>(&self, request: ChatRequest) -> Result<ChatAnswer<T>, SkillError>
    where
        T: DeserializeOwned + JsonSchema + 'static,
    {
        let wanted = Wanted::of::<T>(request.schema_name.as_deref())?;
        let (value, usage) = self.chat(request, &wanted).await?;
        // That it can be read was a condition of the answer.
        let data = T::deserialize(value).map_err(|error| answer::unreadable(&usage.model, &error))?;
        Ok(ChatAnswer {
            data,
            model: usage.model.clone(),
            usage,
        })
    }

    /// Asks for any JSON object.
    pub async fn chat_json_object(
        &self,
        request: ChatRequest,
    ) -> Result<ChatAnswer<Map<String, Value>>, SkillError> {
        let (value, usage) = self.chat(request, &Wanted::any_object()).await?;
        let Value::Object(data) = value else {
            return Err(answer::unreadable(&usage.model, &"it is not a JSON object"));
        };
        Ok(ChatAnswer {
            data,
            model: usage.model.clone(),
            usage,
        })
    }

    async fn chat(&self, request: ChatRequest, wanted: &Wanted) -> Result<(Value, LlmUsage), SkillError> {
        chat::chat(&self.context, &self.client, request, wanted).await
    }
}

impl fmt::Debug for Llm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Llm")
            .field("skill", &self.context.skill())
            .field("client", &self.client)
            .finish()
    }
}
