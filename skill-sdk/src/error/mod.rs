//! Failures of a skill: what the caller sees, and what only the log sees.

mod classify;
mod code;
#[cfg(any(feature = "auth", feature = "host"))]
mod config;
#[cfg(feature = "runtime")]
mod panic;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

pub use self::classify::{FailureExt, failure};
pub use self::code::is_valid_code;
#[cfg(any(feature = "auth", feature = "host"))]
pub use self::config::ConfigError;
#[cfg(feature = "runtime")]
pub(crate) use self::panic::panic_text;

/// The code of a failure that its author did not classify.
pub(crate) const SKILL_ERROR: &str = "skill_error";

/// The message of such a failure: its text may hold what no caller should see.
const UNCLASSIFIED: &str = "the skill failed; the log of the server has the reason";

/// What a source of a failure is kept as.
pub(crate) type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// A failure of a skill.
///
/// A failure says that the skill could not do its work. An outcome that the contract foresees (a merge that
/// conflicts, a claim that was not found) is not a failure: return it as an output.
///
/// On the wire a failure is always `{"code", "message", "retryable", "details"}`. The source of a failure is kept for
/// the log and never put on the wire.
///
/// ```
/// use serde_json::json;
/// use skill_sdk::SkillError;
///
/// let error = SkillError::terminal("branch_missing", "no such branch").with_details(json!({"branch": "b"}));
/// assert_eq!(error.code(), "branch_missing");
/// assert!(!error.is_retryable());
/// ```
///
/// An error type of yours becomes a failure with [`SkillFailure`](derive@crate::SkillFailure):
///
/// ```
/// use skill_sdk::{SkillError, SkillFailure};
///
/// #[derive(Debug, SkillFailure)]
/// enum GitError {
///     #[failure(code = "git_unavailable", retryable)]
///     Unavailable,
///     #[failure(code = "branch_missing")]
///     NoBranch(String),
/// }
///
/// impl std::fmt::Display for GitError {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         match self {
///             Self::Unavailable => f.write_str("git is unavailable"),
///             Self::NoBranch(name) => write!(f, "no branch {name}"),
///         }
///     }
/// }
///
/// impl std::error::Error for GitError {}
///
/// let error = SkillError::from(GitError::NoBranch("main".to_owned()));
/// assert_eq!((error.code(), error.message()), ("branch_missing", "no branch main"));
/// ```
///
/// Guide: `docs/guides/errors.md`. Every code: `docs/reference/error-codes.md`.
#[derive(Debug, Clone, Serialize)]
pub struct SkillError(Box<Inner>);

/// The fields that are on the wire stand first, in the order that they have there.
#[derive(Debug, Clone, Serialize)]
struct Inner {
    code: Cow<'static, str>,
    message: String,
    retryable: bool,
    details: Option<Value>,
    #[serde(skip)]
    source: Option<Arc<dyn Error + Send + Sync + 'static>>,
    /// The implementation broke, as opposed to reporting a failure: a panic, an unclassified error, an unusable code.
    #[serde(skip)]
    crash: bool,
    /// The code that was asked for, when it cannot be used.
    #[serde(skip)]
    #[cfg_attr(
        not(feature = "runtime"),
        expect(dead_code, reason = "only the log of a call reads it")
    )]
    refused_code: Option<String>,
}

impl SkillError {
    /// A failure of the environment: repeating the call may help.
    ///
    /// `code` is `[a-z0-9][a-z0-9_.-]{0,99}`; another one becomes a terminal `skill_error`, and the log shows it. An empty message
    /// becomes the code.
    pub fn retryable(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(code.into(), message.into(), true)
    }

    /// A failure that repeating the call will not mend.
    ///
    /// For `code` and `message` see [`retryable`](Self::retryable).
    pub fn terminal(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(code.into(), message.into(), false)
    }

    fn new(code: Cow<'static, str>, message: String, retryable: bool) -> Self {
        let (code, refused_code) = if is_valid_code(&code) {
            (code, None)
        } else {
            (Cow::Borrowed(SKILL_ERROR), Some(code.into_owned()))
        };
        let message = if message.is_empty() {
            code.clone().into_owned()
        } else {
            message
        };
        Self(Box::new(Inner {
            code,
            message,
            // A mistake of the implementation: repeating the call cannot mend it.
            retryable: retryable && refused_code.is_none(),
            details: None,
            source: None,
            crash: refused_code.is_some(),
            refused_code,
        }))
    }

    /// The implementation broke: `message` is for the caller, who can do nothing about it.
    pub(crate) fn crash(message: &str) -> Self {
        let mut error = Self::terminal(SKILL_ERROR, message);
        error.0.crash = true;
        error
    }

    /// The failure that caused an error, or a crash. The error itself goes to the log.
    pub(crate) fn unclassified(cause: Option<Self>, error: BoxError) -> Self {
        cause
            .unwrap_or_else(|| Self::crash(UNCLASSIFIED))
            .with_source(error)
    }

    /// The failure that an error is; else the one that caused it, if there is one.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Result<Self, Option<Self>> {
        let as_failure = |error: &(dyn Error + 'static)| error.downcast_ref::<Self>().cloned();
        let mut causes = std::iter::successors(error.source(), |error| (**error).source());
        as_failure(error).ok_or_else(|| causes.find_map(as_failure))
    }

    /// Adds what a program may want to know about the failure. Callers see it, so it must not hold secrets.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.0.details = Some(details);
        self
    }

    /// Keeps the error that caused this one, for the log only.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync + 'static>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// The stable code, for programs.
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// The message, for people. Never empty.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether repeating the call may help.
    pub fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// The details that [`with_details`](Self::with_details) added.
    pub fn details(&self) -> Option<&Value> {
        self.0.details.as_ref()
    }

    /// Whether the implementation broke: a panic or an error that its author did not classify.
    pub fn is_crash(&self) -> bool {
        self.0.crash
    }

    /// The code that was asked for when it could not be used, for the log.
    #[cfg(feature = "runtime")]
    pub(crate) fn refused_code(&self) -> Option<&str> {
        self.0.refused_code.as_deref()
    }

    /// Cuts the message to `limit` characters; says whether anything was cut.
    #[cfg(feature = "runtime")]
    pub(crate) fn cut_message(&mut self, limit: usize) -> bool {
        match self.0.message.char_indices().nth(limit) {
            Some((end, _)) => {
                self.0.message.truncate(end);
                true
            }
            None => false,
        }
    }
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.message == self.0.code {
            f.write_str(&self.0.code)
        } else {
            write!(f, "{}: {}", self.0.code, self.0.message)
        }
    }
}

impl Error for SkillError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_wire_form_has_four_members_in_order() {
        let text = serde_json::to_string(&SkillError::retryable("busy", "later")).unwrap();
        assert_eq!(
            text,
            r#"{"code":"busy","message":"later","retryable":true,"details":null}"#
        );
        let text = serde_json::to_string(&SkillError::terminal("no", "").with_details(json!({}))).unwrap();
        assert_eq!(
            text,
            r#"{"code":"no","message":"no","retryable":false,"details":{}}"#
        );
    }

    #[test]
    fn an_unusable_code_becomes_skill_error_and_is_kept_for_the_log() {
        for code in ["Upper", "_x", "", "abc\n", "a b", &"a".repeat(101)] {
            let error = SkillError::terminal(code.to_owned(), "text");
            assert_eq!(
                (error.code(), error.message()),
                ("skill_error", "text"),
                "{code:?}"
            );
            assert!(error.is_crash());
            assert!(format!("{error:?}").contains("refused_code"), "{code:?}");
        }
    }

    #[test]
    fn a_source_is_kept_and_stays_off_the_wire() {
        let error = SkillError::retryable("io", "disk").with_source(std::io::Error::other("token=hunter2"));
        assert_eq!(error.source().unwrap().to_string(), "token=hunter2");
        assert!(!serde_json::to_string(&error).unwrap().contains("hunter2"));
        assert!(!error.to_string().contains("hunter2"));
    }
}
