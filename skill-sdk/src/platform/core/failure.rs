//! What went wrong, as a value that several calls can share.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use crate::error::{SkillError, is_valid_code};

/// The code of what the core does not say.
const CORE_ERROR: &str = "core_error";

/// The most characters of a message of the core that are passed on.
const MAX_MESSAGE: usize = 500;

/// The most bytes of details of the core that are passed on.
const MAX_DETAILS: usize = 16 * 1024;

/// A failure of a service. Unlike a [`SkillError`] it can be cloned.
#[derive(Debug, Clone)]
pub(crate) struct Failure(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    code: Cow<'static, str>,
    message: String,
    retryable: bool,
    details: Option<Value>,
    /// For the log.
    source: Option<Arc<str>>,
    /// The status of the answer that this is made of.
    status: Option<u16>,
}

impl Failure {
    pub(crate) fn retryable(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(code.into(), message.into(), true)
    }

    pub(crate) fn terminal(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(code.into(), message.into(), false)
    }

    fn new(code: Cow<'static, str>, message: String, retryable: bool) -> Self {
        Self(Box::new(Inner {
            code,
            message,
            retryable,
            details: None,
            source: None,
            status: None,
        }))
    }

    pub(crate) fn with_details(mut self, details: Value) -> Self {
        self.0.details = Some(details);
        self
    }

    pub(crate) fn with_source(mut self, source: impl Into<Arc<str>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(crate) fn code(&self) -> &str {
        &self.0.code
    }

    pub(crate) fn details(&self) -> Option<&Value> {
        self.0.details.as_ref()
    }

    /// The core does not have what was asked for. Something else than the core knows nothing of it, and has no code.
    #[cfg(feature = "connections")]
    pub(crate) fn is_not_found(&self) -> bool {
        self.0.status == Some(404) && self.0.code != CORE_ERROR
    }

    #[cfg(feature = "connections")]
    pub(crate) fn message(&self) -> &str {
        &self.0.message
    }

    #[cfg(feature = "connections")]
    pub(crate) fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// Nobody at the core answered.
    pub(crate) fn core_unreachable(source: String) -> Self {
        Self::retryable("core_unavailable", "the core cannot be reached").with_source(source)
    }

    /// The core answered with the status `status`, and perhaps with the envelope `{"error": {code, message, details}}`.
    ///
    /// `secret` is what the request carried: a message or details with it in them are not passed on.
    pub(crate) fn of_core(status: u16, envelope: Option<&Value>, secret: &str) -> Self {
        let error = envelope.map(|envelope| &envelope["error"]);
        let code = error.and_then(|error| error["code"].as_str());
        let said = error.and_then(|error| error["message"].as_str()).unwrap_or("");
        let details = error.map_or(&Value::Null, |error| &error["details"]);
        let mut message = format!("the core answered {status}");
        if !said.is_empty() && !said.contains(secret) {
            message.push_str(": ");
            message.extend(said.chars().take(MAX_MESSAGE));
        }
        let mut failure = if status >= 500 || status == 429 {
            Self::retryable("core_unavailable", message)
        } else {
            match code.filter(|code| is_valid_code(code)) {
                Some(code) => Self::terminal(code.to_owned(), message),
                None => {
                    if status == 404 {
                        message.push_str("; is CONTROL_PLANE_URL its address, without /api/v1?");
                    }
                    Self::terminal(CORE_ERROR, message)
                }
            }
        };
        failure.0.status = Some(status);
        if !details.is_null() {
            let text = details.to_string();
            if text.len() <= MAX_DETAILS && !text.contains(secret) {
                failure.0.details = Some(details.clone());
            }
        }
        failure
    }

    /// The core answered with success and something that is not understood.
    pub(super) fn malformed(what: &str) -> Self {
        Self::terminal(
            CORE_ERROR,
            format!("the answer of the core is not understood: {what}"),
        )
    }
}

impl From<Failure> for SkillError {
    fn from(failure: Failure) -> Self {
        let Inner {
            code,
            message,
            retryable,
            details,
            source,
            status: _,
        } = *failure.0;
        let mut error = if retryable {
            Self::retryable(code, message)
        } else {
            Self::terminal(code, message)
        };
        if let Some(details) = details {
            error = error.with_details(details);
        }
        match source {
            Some(source) => error.with_source(source.to_string()),
            None => error,
        }
    }
}
