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

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, StatusCode, Url};
use tokio::time::timeout;

use self::form::Forms;
use super::model::{Asked, ChatError, ChatModel, Prompt, Reply};
use super::settings::{OpenAiSettings, not_configured};
use crate::environment::Secret;
use crate::error::SkillError;
use crate::platform::web::{BodyError, builder, read_body};

/// The largest answer of a server, in bytes.
const MAX_ANSWER: usize = 4 * 1024 * 1024;

/// A server of `OpenAI`'s protocol.
pub struct OpenAi {
    http: Client,
    url: Url,
    key: Secret,
    models: Vec<String>,
    timeout: Duration,
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
        self.timeout = timeout;
        self
    }

    pub(super) fn from_settings(settings: OpenAiSettings) -> Result<Self, SkillError> {
        let OpenAiSettings {
            base_url,
            key,
            models,
            timeout,
        } = settings;
        let url = Url::parse(&base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            // What stands before the `@` of an address ends up in logs.
            .filter(|url| url.username().is_empty() && url.password().is_none())
            .and_then(|mut url| {
                url.path_segments_mut()
                    .ok()?
                    .pop_if_empty()
                    .extend(["chat", "completions"]);
                Some(url)
            })
            .ok_or_else(|| {
                not_configured(
                    "SKILL_LLM_BASE_URL is not the http or https address of a server, without a user: set it to \
                     something like `https://llm.example/v1`"
                        .to_owned(),
                )
            })?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| {
            not_configured("SKILL_LLM_API_KEY holds characters that no header can have".to_owned())
        })?;
        bearer.set_sensitive(true);
        let http = builder(url.scheme() == "https")
            .default_headers(HeaderMap::from_iter([(AUTHORIZATION, bearer)]))
            .build()
            .map_err(|error| not_configured("no HTTP client could be made".to_owned()).with_source(error))?;
        Ok(Self {
            http,
            url,
            key,
            models,
            timeout,
            forms: Mutex::default(),
        })
    }

    fn forms(&self) -> MutexGuard<'_, Forms> {
        self.forms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks in the form that the model is known to take, and in simpler ones as long as the server refuses the form.
    async fn ask_in_some_form(&self, model: &str, prompt: &Prompt) -> Result<Reply, ChatError> {
        let known = self.forms().known(model, prompt);
        let mut form = known;
        loop {
            let (status, retry_after, answer) = self.send(body::of(model, prompt, form)).await?;
            if status.is_success() {
                if form != known {
                    self.forms().learn(model, prompt, form);
                }
                return reply::read(model, &answer, &self.key);
            }
            let refusal = reply::Refusal::read(status, &answer, &self.key);
            match form.simpler(prompt, &refusal) {
                Some(simpler) => form = simpler,
                None => return Err(refusal.unanswered(model, retry_after)),
            }
        }
    }

    /// Sends one request; gives the status, when to come again, and the body.
    async fn send(&self, body: Vec<u8>) -> Result<(StatusCode, Option<Duration>, Vec<u8>), ChatError> {
        let request = self
            .http
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(body);
        let response = request.send().await.map_err(unreached)?;
        let status = response.status();
        let retry_after = reply::retry_after(response.headers());
        let answer = read_body(response, MAX_ANSWER).await.map_err(unread)?;
        Ok((status, retry_after, answer))
    }
}

/// The failure of a request that got no answer.
fn unreached(error: reqwest::Error) -> ChatError {
    let why = if error.is_connect() {
        "no connection to the model's server could be made"
    } else {
        "the connection to the model's server broke"
    };
    ChatError::next(SkillError::retryable("llm_failed", why).with_source(error.without_url()))
}

fn unread(error: BodyError) -> ChatError {
    match error {
        BodyError::Broken(error) => unreached(error),
        BodyError::TooLarge => {
            let message = format!("the answer of the model's server is larger than {MAX_ANSWER} bytes");
            ChatError::next(SkillError::retryable("llm_failed", message))
        }
    }
}

impl ChatModel for OpenAi {
    fn provider(&self) -> &'static str {
        "openai"
    }

    fn models(&self) -> Vec<String> {
        self.models.clone()
    }

    fn ask<'a>(&'a self, model: &'a str, prompt: &'a Prompt) -> Asked<'a> {
        Box::pin(async move {
            match timeout(self.timeout, self.ask_in_some_form(model, prompt)).await {
                Ok(asked) => asked,
                Err(_) => {
                    let seconds = self.timeout.as_secs_f64();
                    let message = format!("the model {model} did not answer within {seconds} s");
                    Err(ChatError::next(SkillError::retryable("llm_timeout", message)))
                }
            }
        })
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("models", &self.models)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
