//! One request to the core, with retries.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::clock::Clock;
use super::super::web::{Answer, Method, Request, Transport, WebError};
use super::{AudienceToken, CoreSettings};
use crate::environment::Secret;
use crate::error::{SkillError, is_valid_code};

/// The timeout of one attempt.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The largest JSON response, in bytes.
const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// The pause before the first retry. Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The most time for all pauses of one request, which is enough for two retries.
const RETRY_WINDOW: Duration = Duration::from_millis(1500);

/// The longest message of the core that is passed on, in characters.
const MAX_MESSAGE: usize = 500;

/// The largest details of the core that are passed on, in bytes.
const MAX_DETAILS: usize = 16 * 1024;

/// A client of one core as one principal.
pub(crate) struct CoreClient {
    pub(crate) settings: CoreSettings,
    /// The token of the IAM, if the settings have one.
    iam: Option<AudienceToken>,
    pub(crate) transport: Arc<dyn Transport>,
    #[cfg(feature = "connections")]
    pub(crate) clock: Clock,
    pub(crate) retry_window: Duration,
}

impl CoreClient {
    pub(crate) fn new(settings: &CoreSettings, transport: Arc<dyn Transport>, clock: &Clock) -> Self {
        let iam = settings.iam.clone();
        Self {
            settings: settings.clone(),
            iam: iam.map(|iam| AudienceToken::new(iam, &transport, clock)),
            transport,
            #[cfg(feature = "connections")]
            clock: clock.clone(),
            retry_window: RETRY_WINDOW,
        }
    }

    /// The JSON document at `path`, relative to the API root and with a leading slash.
    #[cfg(feature = "connections")]
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, SkillError> {
        document(&self.send(path, None, true, MAX_ANSWER).await?)
    }

    /// The response of the core to `body`. An idempotent request has one idempotency key for all attempts, so it can be retried.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        idempotent: bool,
    ) -> Result<T, SkillError> {
        document(&self.send(path, Some(body), idempotent, MAX_ANSWER).await?)
    }

    /// A successful response of at most `limit` bytes: to a GET, or to a POST if there is a body.
    pub(super) async fn send(
        &self,
        path: &str,
        body: Option<&Value>,
        retryable: bool,
        limit: usize,
    ) -> Result<Answer, SkillError> {
        let url = format!("{}/api/v1{path}", self.settings.url);
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let key = (retryable && body.is_some()).then(idempotency_key);
        let mut pause = FIRST_PAUSE;
        let mut paused = Duration::ZERO;
        let mut renewed = false;
        loop {
            let token = self.token().await?;
            let bearer = format!("Bearer {}", token.expose());
            let mut headers = vec![("authorization", Cow::Owned(bearer))];
            headers.extend(key.as_ref().map(|key| ("idempotency-key", key.into())));
            let request = Request {
                method: method.clone(),
                url: &url,
                headers,
                body,
                limit,
                timeout: TIMEOUT,
            };
            let (failure, may_help) = match self.transport.send(request).await {
                Ok(answer) if answer.is_success() => return Ok(answer),
                Ok(answer) => {
                    if let Some(iam) = self.iam.as_ref().filter(|_| answer.status == 401 && !renewed) {
                        iam.forget(&token);
                        renewed = true;
                        continue;
                    }
                    let envelope = answer.json().filter(|document| document["error"].is_object());
                    let may_help =
                        matches!(answer.status, 502..=504) || (answer.status >= 500 && envelope.is_none());
                    let failure = failure(answer.status, envelope.as_ref(), token.expose());
                    (failure, may_help)
                }
                Err(WebError::Unreachable(source)) => {
                    let failure = SkillError::retryable("core_unavailable", "the core cannot be reached");
                    (failure.with_source(source), true)
                }
                Err(WebError::TooLarge) => {
                    let message = format!("the response of the core is larger than {limit} bytes");
                    return Err(SkillError::terminal("core_answer_too_large", message));
                }
                Err(WebError::Unsendable(why)) => return Err(SkillError::terminal("core_error", why)),
            };
            if !retryable || !may_help || paused + pause > self.retry_window {
                return Err(failure);
            }
            tokio::time::sleep(pause).await;
            paused += pause;
            pause *= 2;
        }
    }

    /// The credential for the core.
    async fn token(&self) -> Result<Secret, SkillError> {
        match (&self.iam, &self.settings.api_key) {
            (Some(iam), _) => iam.get().await,
            (None, Some(key)) => Ok(Secret::new(key)),
            (None, None) => Err(SkillError::retryable(
                "config_missing",
                "the server has no credential for the core: set CONTROL_PLANE_IAM_URL or CONTROL_PLANE_API_KEY",
            )
            .with_details(json!({"config": "CONTROL_PLANE_IAM_URL"}))),
        }
    }
}

/// A response as JSON of the type `T`. An empty body counts as an empty object.
fn document<T: DeserializeOwned>(answer: &Answer) -> Result<T, SkillError> {
    let document = if answer.body.is_empty() {
        Some(json!({}))
    } else {
        answer.json()
    };
    // The error of serde could show a part of the response.
    let document = document.and_then(|document| serde_json::from_value(document).ok());
    document.ok_or_else(|| {
        let message =
            "the response of the core is invalid: it is not JSON, or does not have the expected fields";
        SkillError::terminal("core_error", message)
    })
}

/// The failure for a response with the status `status`, optionally with the envelope `{"error": {code, message, details}}`.
///
/// `secret` is the credential of the request: a message or details that contain it are not passed on.
pub(super) fn failure(status: u16, envelope: Option<&Value>, secret: &str) -> SkillError {
    let error = envelope.map_or(&Value::Null, |envelope| &envelope["error"]);
    let mut message = format!("the core returned status {status}");
    let said = error["message"].as_str().unwrap_or_default();
    if !said.is_empty() && !said.contains(secret) {
        message.push_str(": ");
        message.extend(said.chars().take(MAX_MESSAGE));
    }
    let failure = match error["code"].as_str().filter(|code| is_valid_code(code)) {
        _ if status >= 500 || status == 429 => SkillError::retryable("core_unavailable", message),
        Some(code) => SkillError::terminal(code.to_owned(), message),
        None => {
            if status == 404 {
                message.push_str("; is CONTROL_PLANE_URL its address, without /api/v1?");
            }
            SkillError::terminal("core_error", message)
        }
    };
    let details = &error["details"];
    let text = details.to_string();
    if details.is_null() || text.len() > MAX_DETAILS || text.contains(secret) {
        failure
    } else {
        failure.with_details(details.clone())
    }
}

/// 32 random hexadecimal digits. Each `RandomState` has a key of its own, seeded by the operating system.
fn idempotency_key() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

/// `text` as one segment of a path.
pub(super) fn segment(text: &str) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'-')
        .remove(b'_')
        .remove(b'.')
        .remove(b'~');
    utf8_percent_encode(text, ENCODED).to_string()
}
