//! The language model of a call.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::SkillContext;
use crate::error::SkillError;
use crate::platform::LlmUsage;
use crate::platform::llm::{ChatAnswer, ChatRequest, LlmClient};

impl SkillContext {
    /// The language model of the server: that of [`configure_llm`](crate::configure_llm), else the one that
    /// `SKILL_LLM_PROVIDER` chooses. Needs feature `llm`.
    ///
    /// The codes of a failure are `llm_not_configured` and `llm_unavailable`; for those of a call see [`llm`](crate::llm).
    pub fn llm(&self) -> Result<Llm, SkillError> {
        let client = match &self.services().llm {
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
        let mut spent = Spent::new(&self.context);
        let asked = self.client.chat_json(request, &mut spent.usage);
        let data = self.context.bounded(asked).await?;
        Ok(spent.answered(data))
    }

    /// Asks for any JSON object.
    pub async fn chat_json_object(
        &self,
        request: ChatRequest,
    ) -> Result<ChatAnswer<Map<String, Value>>, SkillError> {
        let mut spent = Spent::new(&self.context);
        let asked = self.client.chat_json_object(request, &mut spent.usage);
        let data = self.context.bounded(asked).await?;
        Ok(spent.answered(data))
    }
}

debug_fields!(Llm { client });

/// What a conversation consumed. It is added to the cost of the call when the conversation ends, also when it is dropped.
struct Spent<'a> {
    context: &'a SkillContext,
    usage: LlmUsage,
    answered: bool,
}

impl<'a> Spent<'a> {
    fn new(context: &'a SkillContext) -> Self {
        Self {
            context,
            usage: LlmUsage::default(),
            answered: false,
        }
    }

    fn answered<T>(mut self, data: T) -> ChatAnswer<T> {
        self.answered = true;
        ChatAnswer {
            data,
            model: self.usage.model.clone(),
            usage: self.usage.clone(),
        }
    }
}

impl Drop for Spent<'_> {
    /// A conversation without an answer counts only if it consumed anything.
    fn drop(&mut self) {
        let LlmUsage {
            prompt_tokens,
            completion_tokens,
            total_tokens,
            cost_usd,
            ..
        } = &self.usage;
        let tokens = prompt_tokens | completion_tokens | total_tokens;
        if self.answered || tokens != 0 || cost_usd.is_some() {
            self.context.add_llm_usage(&self.usage);
        }
    }
}
