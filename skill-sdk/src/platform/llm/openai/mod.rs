//! Servers of `OpenAI`'s protocol: `POST {base}/chat/completions`.
//!
//! - `body`: the body of a request; `form`: the forms of it that a server may support
//! - `reply`: the response, read without trust

mod body;
mod form;
mod reply;

use std::sync::LazyLock;
use std::time::Duration;

use quick_cache::sync::Cache;
use reqwest::Url;
use reqwest::header::HeaderValue;
use serde_json::Value;
use tokio::time::timeout;

use self::form::Form;
use self::reply::Rejected;
use super::client::{self, not_configured};
use super::model::{Asked, ChatError, ChatModel, Prompt, Reply};
use crate::environment::{Environment, Secret};
use crate::error::SkillError;
use crate::platform::web::{Answer, Method, Request, Transport, Web, WebError};

/// The largest response of a server, in bytes.
const MAX_ANSWER: usize = 4 * 1024 * 1024;

/// The most forms that are cached.
const MAX_FORMS: usize = 256;

/// A server, a model and a schema.
type FormKey = (String, String, Option<Value>);

/// The forms that worked and are not the full one.
static FORMS: LazyLock<Cache<FormKey, Form>> = LazyLock::new(|| Cache::new(MAX_FORMS));

/// How a server of `OpenAI`'s protocol is reached.
#[derive(Debug, Clone)]
pub(super) struct OpenAiSettings {
    /// Without a trailing slash.
    pub(super) base_url: String,
    pub(super) key: Secret,
    pub(super) models: Vec<String>,
    pub(super) timeout: Duration,
}

impl OpenAiSettings {
    pub(super) fn read(environment: &Environment) -> Result<Self, SkillError> {
        let missing = |name| {
            not_configured(format!(
                "{name} is not set; set SKILL_LLM_BASE_URL, SKILL_LLM_API_KEY and SKILL_LLM_MODELS, \
                 or SKILL_LLM_PROVIDER=claude-code"
            ))
        };
        let required = |name| environment.variable(name).ok_or_else(|| missing(name));
        let settings = Self {
            base_url: required("SKILL_LLM_BASE_URL")?.trim_end_matches('/').to_owned(),
            key: Secret::new(required("SKILL_LLM_API_KEY")?),
            models: client::models(environment),
            timeout: client::timeout(environment)?,
        };
        if settings.models.is_empty() {
            return Err(missing("SKILL_LLM_MODELS"));
        }
        Ok(settings)
    }
}

/// A server of `OpenAI`'s protocol.
pub struct OpenAi {
    url: String,
    settings: OpenAiSettings,
}

impl OpenAi {
    /// The server at `base_url` (`https://…/v1`) with `api_key`. The models are tried in the given order. The timeout of one model
    /// is 300 s.
    ///
    /// # Errors
    /// `llm_not_configured` (retryable) if `base_url` is not an `http` or `https` URL or contains a user name, or if `api_key`
    /// contains characters that are not allowed in a header.
    pub fn new(
        base_url: &str,
        api_key: impl Into<String>,
        models: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, SkillError> {
        Self::from_settings(OpenAiSettings {
            base_url: base_url.trim().to_owned(),
            key: Secret::new(api_key),
            models: models.into_iter().map(Into::into).collect(),
            timeout: client::DEFAULT_TIMEOUT,
        })
    }

    /// Sets the timeout of one model. The default is 300 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    pub(super) fn from_settings(settings: OpenAiSettings) -> Result<Self, SkillError> {
        let url = Url::parse(&settings.base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            // Addresses are logged, so they must not contain a password.
            .filter(|url| url.username().is_empty() && url.password().is_none())
            .and_then(|mut url| {
                let mut path = url.path_segments_mut().ok()?;
                path.pop_if_empty().extend(["chat", "completions"]);
                drop(path);
                Some(url)
            })
            .ok_or_else(|| {
                not_configured(
                    "SKILL_LLM_BASE_URL must be an http or https address without a user name, such as \
                     `https://llm.example/v1`",
                )
            })?;
        if HeaderValue::from_str(settings.key.expose()).is_err() {
            let message = "SKILL_LLM_API_KEY contains characters that are not allowed in a header";
            return Err(not_configured(message));
        }
        Ok(Self {
            url: url.into(),
            settings,
        })
    }

    /// Asks in the form that worked the last time, and in simpler forms while the server rejects the form.
    async fn ask_in_some_form(&self, model: &str, prompt: &Prompt) -> Result<Reply, ChatError> {
        let key = &self.settings.key;
        let schema = prompt.schema.as_ref().map(|schema| schema.schema.clone());
        let form_key = (self.url.clone(), model.to_owned(), schema);
        let known = FORMS.get(&form_key).unwrap_or_default();
        let mut form = known;
        loop {
            let answer = self.send(&body::of(model, prompt, form)).await?;
            if answer.is_success() {
                if form != known {
                    FORMS.insert(form_key, form);
                }
                return reply::read(model, &answer.body, key);
            }
            let rejected = Rejected::new(answer.status, &answer.json().unwrap_or_default(), key);
            match form.simpler(prompt, rejected.status, rejected.param.as_deref()) {
                Some(simpler) => form = simpler,
                None => return Err(rejected.into_error(model)),
            }
        }
    }

    async fn send(&self, body: &Value) -> Result<Answer, ChatError> {
        let bearer = format!("Bearer {}", self.settings.key.expose());
        let request = Request {
            method: Method::POST,
            url: &self.url,
            headers: vec![("authorization", bearer.into())],
            body: Some(body),
            limit: MAX_ANSWER,
            // All requests for one reply share one timeout.
            timeout: Duration::MAX,
        };
        Web.send(request).await.map_err(|error| {
            let (why, source) = match error {
                WebError::Unreachable(source) => (
                    "no connection to the model's server, or the connection failed",
                    source,
                ),
                WebError::TooLarge => (
                    "the response of the model's server is too large",
                    MAX_ANSWER.to_string(),
                ),
                WebError::Unsendable(source) => ("the request to the model's server cannot be sent", source),
            };
            ChatError::next(SkillError::retryable("llm_failed", why).with_source(source))
        })
    }
}

impl ChatModel for OpenAi {
    fn provider(&self) -> &'static str {
        "openai"
    }

    fn models(&self) -> Vec<String> {
        self.settings.models.clone()
    }

    fn ask<'a>(&'a self, model: &'a str, prompt: &'a Prompt) -> Asked<'a> {
        Box::pin(async move {
            let asked = timeout(self.settings.timeout, self.ask_in_some_form(model, prompt));
            asked.await.unwrap_or_else(|_| {
                let seconds = self.settings.timeout.as_secs_f64();
                let message = format!("the model {model} did not answer within {seconds} s");
                Err(ChatError::next(SkillError::retryable("llm_timeout", message)))
            })
        })
    }
}

debug_fields!(OpenAi { settings });
