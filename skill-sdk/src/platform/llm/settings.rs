//! What the environment of a host says about the model.

use std::time::Duration;

use super::claude::ClaudeCode;
use crate::environment::{Environment, Secret};
use crate::error::SkillError;

/// How long one model may take when [`TIMEOUT`] is not set, in seconds.
const DEFAULT_TIMEOUT: f64 = 300.0;

/// The longest that [`TIMEOUT`] may say, in seconds: a day.
const MAX_TIMEOUT: f64 = 86_400.0;

const PROVIDER: &str = "SKILL_LLM_PROVIDER";
const BASE_URL: &str = "SKILL_LLM_BASE_URL";
const API_KEY: &str = "SKILL_LLM_API_KEY";
const MODELS: &str = "SKILL_LLM_MODELS";
const TIMEOUT: &str = "SKILL_LLM_TIMEOUT_SECONDS";
const BINARY: &str = "SKILL_LLM_CLAUDE_BINARY";

/// The provider that the environment chooses.
#[derive(Debug)]
pub(super) enum Choice {
    OpenAi(OpenAiSettings),
    ClaudeCode(ClaudeCode),
}

/// What a server of `OpenAI`'s protocol is reached with.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct OpenAiSettings {
    /// Without slashes at its end.
    pub(super) base_url: String,
    pub(super) key: Secret,
    pub(super) models: Vec<String>,
    pub(super) timeout: Duration,
}

impl OpenAiSettings {
    pub(super) fn new(base_url: &str, key: String, models: Vec<String>) -> Self {
        Self {
            base_url: base_url.trim().trim_end_matches('/').to_owned(),
            key: Secret::new(key),
            models,
            timeout: Duration::from_secs_f64(DEFAULT_TIMEOUT),
        }
    }
}

impl Choice {
    pub(super) fn of(environment: &Environment) -> Result<Self, SkillError> {
        let variable = |name| environment.variable(name);
        let models = variable(MODELS).unwrap_or_default();
        let models = models.split(',').map(str::trim).filter(|model| !model.is_empty());
        let models: Vec<_> = models.map(str::to_owned).collect();
        let provider = variable(PROVIDER).unwrap_or_default();
        match provider.to_lowercase().as_str() {
            "" | "openai" => {
                let (url, key) = (variable(BASE_URL), variable(API_KEY));
                let (Some(url), Some(key), false) = (&url, &key, models.is_empty()) else {
                    let missing = [
                        (BASE_URL, url.is_none()),
                        (API_KEY, key.is_none()),
                        (MODELS, models.is_empty()),
                    ];
                    let missing = missing
                        .iter()
                        .filter_map(|(name, missing)| missing.then_some(*name));
                    return Err(not_configured(format!(
                        "the host has no {}; the model needs {BASE_URL}, {API_KEY} and {MODELS}, or {PROVIDER}=claude-code",
                        missing.collect::<Vec<_>>().join(", ")
                    )));
                };
                let mut settings = OpenAiSettings::new(url, key.clone(), models);
                settings.timeout = timeout(environment)?;
                Ok(Self::OpenAi(settings))
            }
            "claude-code" => {
                let timeout = timeout(environment)?;
                let binary = variable(BINARY).unwrap_or_else(|| "claude".to_owned());
                let claude = ClaudeCode::find(&binary, environment)?;
                Ok(Self::ClaudeCode(claude.models(models).timeout(timeout)))
            }
            other => Err(not_configured(format!(
                "{PROVIDER} is `{}`, which is no provider; set it to `openai` or `claude-code`",
                other.escape_debug()
            ))),
        }
    }
}

fn timeout(environment: &Environment) -> Result<Duration, SkillError> {
    let text = environment.variable(TIMEOUT);
    let seconds = text
        .as_ref()
        .map_or(Some(DEFAULT_TIMEOUT), |text| text.parse().ok());
    seconds
        .filter(|seconds| *seconds > 0.0 && *seconds <= MAX_TIMEOUT)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            not_configured(format!(
                "{TIMEOUT} is `{}`, which is no number of seconds over 0 and at most {MAX_TIMEOUT}",
                text.unwrap_or_default().escape_debug()
            ))
        })
}

pub(super) fn not_configured(message: impl Into<String>) -> SkillError {
    SkillError::retryable("llm_not_configured", message)
}
