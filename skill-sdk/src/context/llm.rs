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
    /// # Errors
    ///
    /// `llm_not_configured` or `llm_unavailable` (retryable) if the model cannot be used. For the codes of a request see
    /// [`llm`](crate::llm).
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

/// The language model of one call: see [`SkillContext::llm`].
#[derive(Clone)]
pub struct Llm {
    context: SkillContext,
    client: LlmClient,
}

impl Llm {
    /// Asks for a reply of type `T`, a JSON object.
    ///
    /// The model gets the schema of `T`; doc comments describe the fields. The reply is validated against the same schema. If it
    /// is not valid, the model is asked once more with the violations; then the next model is asked.
    ///
    /// # Errors
    ///
    /// The codes of [`llm`](crate::llm), and those of
    /// [`check_deadline`](SkillContext::check_deadline).
    pub async fn chat_json<T>(&self, request: ChatRequest) -> Result<ChatAnswer<T>, SkillError>
    where
        T: DeserializeOwned + JsonSchema + 'static,
    {
        let wanted = Wanted::of::<T>(request.schema_name.as_deref())?;
        self.chat(request, &wanted).await
    }

    /// Asks for any JSON object.
    ///
    /// # Errors
    ///
    /// Those of [`chat_json`](Self::chat_json), except `llm_schema_unusable`.
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
            // The validation has deserialized it already.
            data: T::deserialize(value).map_err(|error| unreadable(&error))?,
            model: spent.usage.model.clone(),
            usage: spent.usage.clone(),
        })
    }
}

debug_fields!(Llm { client });

/// The usage of a conversation. It is added to the cost of the call when the conversation ends or is dropped.
struct Spent<'a> {
    context: &'a SkillContext,
    usage: LlmUsage,
    answered: bool,
}

impl Drop for Spent<'_> {
    /// A conversation without a reply counts only if it has usage.
    fn drop(&mut self) {
        let usage = &self.usage;
        let tokens = usage.prompt_tokens | usage.completion_tokens | usage.total_tokens;
        if self.answered || tokens != 0 || usage.cost_usd.is_some() {
            self.context.add_llm_usage(usage);
        }
    }
}
