//! Which provider there is.

use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use quick_cache::sync::Cache;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::answer::{Wanted, unreadable};
use super::chat::chat;
use super::model::ChatModel;
use super::openai::OpenAi;
use super::request::ChatRequest;
use super::settings::{Choice, OpenAiSettings};
use crate::environment::Environment;
use crate::error::SkillError;
use crate::platform::LlmUsage;

/// How many configurations have a client. A server has one.
const MOST_CLIENTS: usize = 8;

/// The clients that were made, with their connections.
static CLIENTS: LazyLock<Cache<OpenAiSettings, LlmClient>> = LazyLock::new(|| Cache::new(MOST_CLIENTS));

/// A provider of models, ready to be asked. Cheap to clone.
#[derive(Clone)]
pub struct LlmClient(Arc<dyn ChatModel>);

impl LlmClient {
    /// The client of a provider.
    pub fn new(model: impl ChatModel) -> Self {
        Self(Arc::new(model))
    }

    pub(super) fn model(&self) -> &dyn ChatModel {
        self.0.as_ref()
    }

    /// The client that the environment asks for, unless [`configure_llm`] said otherwise.
    pub(crate) fn of_environment(environment: &Environment) -> Result<Self, SkillError> {
        if let Some(client) = configured(environment)? {
            return Ok(client);
        }
        match Choice::of(environment)? {
            Choice::ClaudeCode(claude) => Ok(Self::new(claude)),
            Choice::OpenAi(settings) => CLIENTS.get_or_insert_with(&settings, || {
                OpenAi::from_settings(settings.clone()).map(Self::new)
            }),
        }
    }

    /// The answer to a request as a value of type `T`. What it took is added to `usage`, also when it fails.
    pub(crate) async fn chat_json<T>(
        &self,
        request: ChatRequest,
        usage: &mut LlmUsage,
    ) -> Result<T, SkillError>
    where
        T: DeserializeOwned + JsonSchema + 'static,
    {
        let wanted = Wanted::of::<T>(request.schema_name.as_deref())?;
        let value = chat(self, request, &wanted, usage).await?;
        // That it can be read was a condition of the answer.
        T::deserialize(value).map_err(|error| unreadable(&usage.model, &error))
    }

    /// The answer to a request as any JSON object.
    pub(crate) async fn chat_json_object(
        &self,
        request: ChatRequest,
        usage: &mut LlmUsage,
    ) -> Result<Map<String, Value>, SkillError> {
        match chat(self, request, &Wanted::any_object(), usage).await? {
            Value::Object(data) => Ok(data),
            _ => Err(unreadable(&usage.model, &"it is not a JSON object")),
        }
    }
}

debug_fields!(LlmClient {});

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

type Factory = dyn Fn(&Environment) -> Result<LlmClient, SkillError> + Send + Sync;

/// The factory, and what it made.
struct Configured {
    factory: Box<Factory>,
    made: OnceLock<LlmClient>,
}

static CONFIGURED: RwLock<Option<Arc<Configured>>> = RwLock::new(None);

/// Puts a provider of your own in the place of the one that the environment chooses, in this whole program.
/// Needs feature `llm`.
///
/// `factory` runs when a skill asks for the model the first time; its client is used from then on. A failure is that of the
/// call, and the next call tries again. Another `configure_llm` replaces it.
///
/// ```
/// use skill_sdk::llm::{Asked, ChatModel, LlmClient, Prompt, Reply};
/// use skill_sdk::{LlmUsage, configure_llm};
///
/// struct Echo;
///
/// impl ChatModel for Echo {
///     fn provider(&self) -> &'static str {
///         "echo"
///     }
///
///     fn ask<'a>(&'a self, _model: &'a str, prompt: &'a Prompt) -> Asked<'a> {
///         let said = prompt.messages.len();
///         Box::pin(async move { Ok(Reply::new(format!("{{\"messages\": {said}}}"), LlmUsage::default())) })
///     }
/// }
///
/// configure_llm(|_environment| Ok(LlmClient::new(Echo)));
/// ```
pub fn configure_llm(
    factory: impl Fn(&Environment) -> Result<LlmClient, SkillError> + Send + Sync + 'static,
) {
    let configured = Configured {
        factory: Box::new(factory),
        made: OnceLock::new(),
    };
    *CONFIGURED.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(configured));
}

fn configured(environment: &Environment) -> Result<Option<LlmClient>, SkillError> {
    let configured = CONFIGURED.read().unwrap_or_else(PoisonError::into_inner).clone();
    let Some(configured) = configured else {
        return Ok(None);
    };
    if let Some(client) = configured.made.get() {
        return Ok(Some(client.clone()));
    }
    let client = (configured.factory)(environment)?;
    Ok(Some(configured.made.get_or_init(|| client).clone()))
}
