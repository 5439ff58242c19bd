//! The language model of a call.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::SkillContext;
use crate::error::SkillError;
use crate::platform::LlmUsage;
use crate::platform::llm::{ChatAnswer, ChatRequest, LlmClient, Wanted, unreadable};

impl SkillContext {
    /// The language model of the server: that of [`configure_llm`](crate::configure_llm), else the one that
    /// `SKILL_LLM_PROVIDER` chooses. Needs feature `llm`.
    ///
    /// The codes of a failure are `llm_not_configured` and `llm_unavailable`; for those of a call see [`llm`](crate::llm).
    pub fn llm(&self) -> Result<Llm, SkillError> {
        let client = match &self.0.meta.services.llm {
            Some(client) => client.clone(),
            None => LlmClient::of_environment(self.environment())?,
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

impl Llm {
    /// Asks for an answer of type `T`, a JSON object.
    ///
    /// The schema of `T` goes to the model; its doc comments are what the model knows of the fields. The answer is validated
    /// against the same schema. One that is not valid is sent back once, with what is wrong, before the next model is
    /// asked.
    pub async fn chat_json<T>(&self, request: ChatRequest) -> Result<ChatAnswer<T>, SkillError>
    where
        T: DeserializeOwned + JsonSchema + 'static,
    {
        let wanted = Wanted::of::<T>(request.schema_name.as_deref())?;
        self.chat(request, &wanted).await
    }

    /// Asks for any JSON object.
    pub async fn chat_json_object(
        &self,
        request: ChatRequest,
    ) -> Result<ChatAnswer<Map<String, Value>>, SkillError> {
        self.chat(request, &Wanted::any_object()).await
    }

    async fn chat<T: DeserializeOwned>(
        &self,
        request: ChatRequest,
        wanted: &Wanted,
    ) -> Result<ChatAnswer<T>, SkillError> {
        let mut spent = Spent {
            context: &self.context,
            usage: LlmUsage::default(),
            answered: false,
        };
        let asked = self.client.chat(request, wanted, &mut spent.usage);
        let value = self.context.bounded(asked).await?;
        spent.answered = true;
        Ok(ChatAnswer {
            // That it can be read was a condition of the answer.
            data: T::deserialize(value).map_err(|error| unreadable(&error))?,
            model: spent.usage.model.clone(),
            usage: spent.usage.clone(),
        })
    }
}

debug_fields!(Llm { client });

/// What a conversation consumed. It is added to the cost of the call when the conversation ends, also when it is dropped.
struct Spent<'a> {
    context: &'a SkillContext,
    usage: LlmUsage,
    answered: bool,
}

impl Drop for Spent<'_> {
    /// A conversation without an answer counts only if it consumed anything.
    fn drop(&mut self) {
        let usage = &self.usage;
        let tokens = usage.prompt_tokens | usage.completion_tokens | usage.total_tokens;
        if self.answered || tokens != 0 || usage.cost_usd.is_some() {
            self.context.add_llm_usage(usage);
        }
    }
}
