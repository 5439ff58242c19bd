//! What the environment of a host says about the model.

use std::fmt;
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
#[derive(Clone)]
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

impl PartialEq for OpenAiSettings {
    fn eq(&self, other: &Self) -> bool {
        self.base_url == other.base_url
            && self.key.expose() == other.key.expose()
            && self.models == other.models
            && self.timeout == other.timeout
    }
}

impl fmt::Debug for OpenAiSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiSettings")
            .field("models", &self.models)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Choice {
    pub(super) fn of(environment: &Environment) -> Result<Self, SkillError> {
        let provider = environment.config(PROVIDER).unwrap_or_default();
        match provider.trim().to_lowercase().as_str() {
            "" | "openai" => {
                let settings = openai(environment)?;
                Ok(Self::OpenAi(settings))
            }
            "claude-code" => {
                let timeout = timeout(environment)?;
                let binary = environment
                    .config(BINARY)
                    .map(|binary| binary.trim().to_owned())
                    .filter(|binary| !binary.is_empty())
                    .unwrap_or_else(|| "claude".to_owned());
                let claude = ClaudeCode::find(&binary, environment)?
                    .models(models(environment))
                    .timeout(timeout);
                Ok(Self::ClaudeCode(claude))
            }
            other => Err(not_configured(format!(
                "{PROVIDER} is `{}`, which is no provider; set it to `openai` or `claude-code`",
                other.escape_debug()
            ))),
        }
    }
}

fn openai(environment: &Environment) -> Result<OpenAiSettings, SkillError> {
    let text = |name: &str| environment.config(name).unwrap_or_default().trim().to_owned();
    let mut settings = OpenAiSettings::new(&text(BASE_URL), text(API_KEY), models(environment));
    let missing: Vec<_> = [
        (BASE_URL, settings.base_url.is_empty()),
        (API_KEY, settings.key.is_empty()),
        (MODELS, settings.models.is_empty()),
    ]
    .into_iter()
    .filter_map(|(name, missing)| missing.then_some(name))
    .collect();
    if !missing.is_empty() {
        return Err(not_configured(format!(
            "the host has no {}; the model needs {BASE_URL}, {API_KEY} and {MODELS}, or {PROVIDER}=claude-code",
            missing.join(", ")
        )));
    }
    settings.timeout = timeout(environment)?;
    Ok(settings)
}

/// The models in the order of rotation.
fn models(environment: &Environment) -> Vec<String> {
    let models = environment.config(MODELS).unwrap_or_default();
    models
        .split(',')
        .map(str::trim)
        .filter(|model| !model.is_empty())
        .map(str::to_owned)
        .collect()
}

fn timeout(environment: &Environment) -> Result<Duration, SkillError> {
    let text = environment.config(TIMEOUT).unwrap_or_default();
    let text = text.trim();
    let seconds = if text.is_empty() {
        Some(DEFAULT_TIMEOUT)
    } else {
        text.parse().ok()
    };
    seconds
        .filter(|seconds: &f64| *seconds > 0.0 && *seconds <= MAX_TIMEOUT)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            not_configured(format!(
                "{TIMEOUT} is `{}`, which is no number of seconds over 0 and at most {MAX_TIMEOUT}",
                text.escape_debug()
            ))
        })
}

pub(super) fn not_configured(message: String) -> SkillError {
    SkillError::retryable("llm_not_configured", message)
}
