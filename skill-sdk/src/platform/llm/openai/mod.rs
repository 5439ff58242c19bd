//! Servers of `OpenAI`'s protocol: `POST {base}/chat/completions`.
//!
//! - `body`: what is sent; `form`: in which form, and what a server was found to refuse
//! - `reply`: what comes back, read without trust

mod body;
mod form;
mod reply;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::HeaderValue;
use reqwest::{Client, Url};
use serde_json::Value;
use tokio::time::timeout;

use self::form::Forms;
use super::model::{Asked, ChatError, ChatModel, Prompt, Reply};
use super::settings::{OpenAiSettings, not_configured};
use crate::error::SkillError;
use crate::platform::web::{self, Answer, Method, Request, Transport, WebError};

/// The largest answer of a server, in bytes.
const MAX_ANSWER: usize = 4 * 1024 * 1024;

/// A server of `OpenAI`'s protocol.
pub struct OpenAi {
    http: Client,
    url: String,
    settings: OpenAiSettings,
    /// In which forms the models are asked.
    forms: Mutex<Forms>,
}

impl OpenAi {
    /// The server at `base_url` (`https://…/v1`), asked with `api_key`, whose models are asked in the order given. One
    /// model may take 300 seconds.
    ///
    /// The code of a failure is `llm_not_configured`.
    pub fn new(
        base_url: &str,
        api_key: impl Into<String>,
        models: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, SkillError> {
        Self::from_settings(OpenAiSettings::new(
            base_url,
            api_key.into(),
            models.into_iter().map(Into::into).collect(),
        ))
    }

    /// Sets how long one model may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout;
        self
    }

    pub(super) fn from_settings(settings: OpenAiSettings) -> Result<Self, SkillError> {
        let url = Url::parse(&settings.base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            // What stands before the `@` of an address ends up in logs.
            .filter(|url| url.username().is_empty() && url.password().is_none())
            .and_then(|mut url| {
                let mut path = url.path_segments_mut().ok()?;
                path.pop_if_empty().extend(["chat", "completions"]);
                drop(path);
                Some(url)
            })
            .ok_or_else(|| {
                not_configured(
                    "SKILL_LLM_BASE_URL is not the http or https address of a server, without a user: set it to \
                     something like `https://llm.example/v1`",
                )
            })?;
        if HeaderValue::from_str(settings.key.expose()).is_err() {
            let message = "SKILL_LLM_API_KEY holds characters that no header can have";
            return Err(not_configured(message));
        }
        let http = web::client(url.scheme() == "https")
            .map_err(|error| not_configured("no HTTP client could be made").with_source(error))?;
        Ok(Self {
            http,
            url: url.into(),
            settings,
            forms: Mutex::default(),
        })
    }

    fn forms(&self) -> MutexGuard<'_, Forms> {
        self.forms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks in the form that the model is known to take, and in simpler ones as long as the server refuses the form.
    async fn ask_in_some_form(&self, model: &str, prompt: &Prompt) -> Result<Reply, ChatError> {
        let key = &self.settings.key;
        let known = self.forms().known(model, prompt);
        let mut form = known;
        loop {
            let answer = self.send(&body::of(model, prompt, form)).await?;
            if answer.is_success() {
                if form != known {
                    self.forms().learn(model, prompt, form);
                }
                return reply::read(model, &answer.body, key);
            }
            let refusal = reply::Refusal::read(&answer, key);
            match form.simpler(prompt, &refusal) {
                Some(simpler) => form = simpler,
                None => return Err(refusal.unanswered(model)),
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
            // All requests for one answer have a time together.
            timeout: Duration::MAX,
        };
        self.http.send(request).await.map_err(|error| {
            let (why, source) = match error {
                WebError::Unreachable(source) => ("no connection to the model's server, or it broke", source),
                WebError::TooLarge => (
                    "the answer of the model's server is too large",
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

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("models", &self.settings.models)
            .field("timeout", &self.settings.timeout)
            .finish_non_exhaustive()
    }
}
