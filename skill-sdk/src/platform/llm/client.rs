//! The provider of models.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use serde_json::Value;

use super::answer::Wanted;
use super::chat::chat;
use super::claude::ClaudeCode;
use super::model::ChatModel;
use super::openai::{OpenAi, OpenAiSettings};
use super::request::ChatRequest;
use crate::environment::Environment;
use crate::error::SkillError;
use crate::platform::LlmUsage;

/// The default timeout for one model.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);

/// The largest value of `SKILL_LLM_TIMEOUT_SECONDS`, in seconds: 1 day.
const MAX_TIMEOUT: f64 = 86_400.0;

/// A client of a provider of models. Cheap to clone.
#[derive(Clone)]
pub struct LlmClient(Arc<dyn ChatModel>);

impl LlmClient {
    /// The client of a provider.
    pub fn new(model: impl ChatModel) -> Self {
        Self(Arc::new(model))
    }

    /// The client of [`configure_llm`], or the client that the environment configures.
    pub(crate) fn of_environment(environment: &Environment) -> Result<Self, SkillError> {
        if let Some(client) = configured(environment)? {
            return Ok(client);
        }
        let provider = environment.variable("SKILL_LLM_PROVIDER").unwrap_or_default();
        match provider.to_lowercase().as_str() {
            "" | "openai" => {
                let settings = OpenAiSettings::read(environment)?;
                OpenAi::from_settings(settings).map(Self::new)
            }
            "claude-code" => {
                let binary = environment.variable("SKILL_LLM_CLAUDE_BINARY");
                let claude = ClaudeCode::new(binary.as_deref().unwrap_or("claude"), environment)
                    .models(models(environment))
                    .timeout(timeout(environment)?);
                Ok(Self::new(claude))
            }
            other => Err(not_configured(format!(
                "SKILL_LLM_PROVIDER must be `openai` or `claude-code`, not `{}`",
                other.escape_debug()
            ))),
        }
    }

    /// The reply to a request, as `wanted`. Its usage is added to `usage`, also when the conversation fails or is dropped.
    pub(crate) async fn chat(
        &self,
        request: ChatRequest,
        wanted: &Wanted,
        usage: &mut LlmUsage,
    ) -> Result<Value, SkillError> {
        chat(self.0.as_ref(), request, wanted, usage).await
    }
}

debug_fields!(LlmClient {});

/// The models in `SKILL_LLM_MODELS`, separated by commas.
pub(super) fn models(environment: &Environment) -> Vec<String> {
    let models = environment.variable("SKILL_LLM_MODELS").unwrap_or_default();
    let models = models.split(',').map(str::trim).filter(|model| !model.is_empty());
    models.map(str::to_owned).collect()
}

/// The timeout for one model.
pub(super) fn timeout(environment: &Environment) -> Result<Duration, SkillError> {
    let Some(text) = environment.variable("SKILL_LLM_TIMEOUT_SECONDS") else {
        return Ok(DEFAULT_TIMEOUT);
    };
    let seconds = text.parse().ok();
    let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= MAX_TIMEOUT);
    seconds.map(Duration::from_secs_f64).ok_or_else(|| {
        not_configured(format!(
            "SKILL_LLM_TIMEOUT_SECONDS must be a number of seconds over 0 and at most {MAX_TIMEOUT}, not `{}`",
            text.escape_debug()
        ))
    })
}

pub(super) fn not_configured(message: impl Into<String>) -> SkillError {
    SkillError::retryable("llm_not_configured", message)
}

/// The reply of a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChatAnswer<T> {
    /// The value.
    pub data: T,
    /// The usage of the whole conversation: all models and all re-prompts.
    pub usage: LlmUsage,
    /// The model that replied.
    pub model: String,
}

type Factory = dyn Fn(&Environment) -> Result<LlmClient, SkillError> + Send + Sync;

/// The factory, and its client.
struct Configured {
    factory: Box<Factory>,
    made: OnceLock<LlmClient>,
}

static CONFIGURED: RwLock<Option<Arc<Configured>>> = RwLock::new(None);

/// Replaces the provider that the environment configures with your own, in the whole process. Needs feature `llm`.
///
/// `factory` runs when a skill asks for the model for the first time; its client is used from then on. If the factory fails, the
/// call fails with its error, and the next call runs the factory again. A later `configure_llm` replaces this one.
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
