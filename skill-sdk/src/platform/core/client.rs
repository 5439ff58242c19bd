//! One request to the core with its repeats.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::clock::Clock;
use super::super::web::{Answer, Method, Request, Transport, WebError};
use super::credential::Credential;
use super::{CoreSettings, failure};
use crate::error::{SkillError, is_valid_code};

/// How long one try may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The most bytes of a JSON answer.
pub(super) const MAX_ANSWER: usize = 16 * 1024 * 1024;

/// The pause before the first repeat; the second one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// How long all pauses of one request may take together, which is two of them.
const RETRY_WINDOW: Duration = Duration::from_millis(1500);

/// A client of one core as one principal.
pub(crate) struct CoreClient {
    /// The address of the API's root, without a slash at its end.
    root: String,
    credential: Credential,
    pub(crate) transport: Arc<dyn Transport>,
    retry_window: Duration,
    #[cfg(feature = "connections")]
    pub(crate) settings: CoreSettings,
    #[cfg(feature = "connections")]
    pub(crate) clock: Clock,
}

/// What is asked of the core.
pub(crate) struct Ask<'a> {
    pub(crate) method: Method,
    /// Behind the API's root, with a slash in front.
    pub(crate) path: &'a str,
    pub(crate) body: Option<&'a Value>,
    /// Whether a repeat does no harm because it carries the same key.
    pub(crate) idempotent: bool,
    pub(crate) limit: usize,
    /// The failure when the core does not have what is asked for; that of the core when it is `None`.
    pub(crate) missing: Option<SkillError>,
}

impl<'a> Ask<'a> {
    pub(crate) fn get(path: &'a str) -> Self {
        Self {
            method: Method::GET,
            path,
            body: None,
            idempotent: false,
            limit: MAX_ANSWER,
            missing: None,
        }
    }

    pub(super) fn post(path: &'a str, body: &'a Value, idempotent: bool) -> Self {
        Self {
            method: Method::POST,
            body: Some(body),
            idempotent,
            ..Self::get(path)
        }
    }
}

impl CoreClient {
    pub(crate) fn new(settings: &CoreSettings, transport: Arc<dyn Transport>, clock: &Clock) -> Self {
        Self {
            root: format!("{}/api/v1", settings.url),
            credential: Credential::new(settings, &transport, clock),
            transport,
            retry_window: RETRY_WINDOW,
            #[cfg(feature = "connections")]
            settings: settings.clone(),
            #[cfg(feature = "connections")]
            clock: clock.clone(),
        }
    }

    /// Does not repeat requests.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn without_repeats(mut self) -> Self {
        self.retry_window = Duration::ZERO;
        self
    }

    /// The answer as JSON of the type `T`. An empty answer is an empty object.
    pub(crate) async fn json<T: DeserializeOwned>(&self, ask: Ask<'_>) -> Result<T, SkillError> {
        let answer = self.send(ask).await?;
        let document = match answer.json() {
            None if answer.body.is_empty() => Value::Object(serde_json::Map::new()),
            document => document.ok_or_else(|| failure::malformed("it is not JSON"))?,
        };
        // The error of serde could show a part of the answer.
        serde_json::from_value(document).map_err(|_| failure::malformed("it has other members than expected"))
    }

    /// A successful answer.
    pub(crate) async fn send(&self, ask: Ask<'_>) -> Result<Answer, SkillError> {
        let url = format!("{}{}", self.root, ask.path);
        let key = ask.idempotent.then(idempotency_key);
        let repeatable = ask.method == Method::GET || ask.idempotent;
        let mut pause = FIRST_PAUSE;
        let mut paused = Duration::ZERO;
        let mut renewed = false;
        loop {
            let token = self.credential.token().await?;
            let mut headers = Vec::with_capacity(2);
            headers.push(("authorization", Cow::Owned(format!("Bearer {}", token.expose()))));
            if let Some(key) = &key {
                headers.push(("idempotency-key", Cow::Borrowed(key.as_str())));
            }
            let request = Request {
                method: ask.method.clone(),
                url: &url,
                headers,
                body: ask.body,
                limit: ask.limit,
                timeout: TIMEOUT,
            };
            let (failure, may_help) = match self.transport.send(request).await {
                Ok(answer) if answer.is_success() => return Ok(answer),
                Ok(answer) => {
                    if answer.status == 401 && !renewed && self.credential.refused(&token) {
                        renewed = true;
                        continue;
                    }
                    let envelope = answer.json().filter(|document| document["error"].is_object());
                    let may_help =
                        matches!(answer.status, 502..=504) || (answer.status >= 500 && envelope.is_none());
                    let code = envelope
                        .as_ref()
                        .and_then(|document| document["error"]["code"].as_str());
                    // Something else than the core knows nothing of it, and has no code.
                    let missing = ask.missing.as_ref().filter(|_| answer.status == 404);
                    if let Some(failure) = missing.filter(|_| code.is_some_and(is_valid_code)) {
                        return Err(failure.clone());
                    }
                    let failure = failure::of_core(answer.status, envelope.as_ref(), token.expose());
                    (failure, may_help)
                }
                Err(WebError::Unreachable(source)) => {
                    let failure = SkillError::retryable("core_unavailable", "the core cannot be reached");
                    (failure.with_source(source), true)
                }
                Err(WebError::TooLarge) => {
                    let message = format!("the answer of the core has over {} bytes", ask.limit);
                    return Err(SkillError::terminal("core_answer_too_large", message));
                }
                Err(WebError::Unsendable(why)) => return Err(SkillError::terminal("core_error", why)),
            };
            if !repeatable || !may_help || paused + pause > self.retry_window {
                return Err(failure);
            }
            tokio::time::sleep(pause).await;
            paused += pause;
            pause *= 2;
        }
    }
}

/// 32 random hexadecimal digits. Each state of a hash map has a key of its own, which the system's randomness seeds.
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
