//! Classifying any error with `?`.

use std::borrow::Cow;
use std::error::Error;

use super::SkillError;

/// Turns any error into a [`SkillError`] with a code, in one word before `?`.
///
/// The error itself becomes the source: the log shows it, the caller sees only the code. It works on an `Option`
/// as well, where `None` is the failure.
///
/// ```
/// use skill_sdk::{FailureExt, SkillError};
///
/// fn read(path: &str) -> Result<String, SkillError> {
///     let text = std::fs::read_to_string(path).terminal("file_missing")?;
///     let first = text.lines().next().terminal_with("file_empty", "the file has no line")?;
///     Ok(first.to_owned())
/// }
/// assert_eq!(read("/no/such/file").unwrap_err().code(), "file_missing");
/// ```
pub trait FailureExt<T>: Sized {
    /// The outputs, or the failure that `classified` makes.
    #[doc(hidden)]
    fn or_failure(self, classified: impl FnOnce() -> SkillError) -> Result<T, SkillError>;

    /// The environment failed: a retry may help.
    ///
    /// # Errors
    ///
    /// A [`SkillError`] with `code` if `self` is an error or `None`.
    fn retryable(self, code: impl Into<Cow<'static, str>>) -> Result<T, SkillError> {
        self.retryable_with(code, "")
    }

    /// A retry will not help.
    ///
    /// # Errors
    ///
    /// A [`SkillError`] with `code` if `self` is an error or `None`.
    fn terminal(self, code: impl Into<Cow<'static, str>>) -> Result<T, SkillError> {
        self.terminal_with(code, "")
    }

    /// [`retryable`](Self::retryable) with a message for the caller.
    ///
    /// # Errors
    ///
    /// As [`retryable`](Self::retryable).
    fn retryable_with(
        self,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Result<T, SkillError> {
        self.or_failure(|| SkillError::retryable(code, message))
    }

    /// [`terminal`](Self::terminal) with a message for the caller.
    ///
    /// # Errors
    ///
    /// As [`terminal`](Self::terminal).
    fn terminal_with(
        self,
        code: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Result<T, SkillError> {
        self.or_failure(|| SkillError::terminal(code, message))
    }
}

impl<T, E: Into<Box<dyn Error + Send + Sync + 'static>>> FailureExt<T> for Result<T, E> {
    fn or_failure(self, classified: impl FnOnce() -> SkillError) -> Result<T, SkillError> {
        self.map_err(|error| classified().with_source(error))
    }
}

impl<T> FailureExt<T> for Option<T> {
    fn or_failure(self, classified: impl FnOnce() -> SkillError) -> Result<T, SkillError> {
        self.ok_or_else(classified)
    }
}

/// A type that can derive `SkillFailure`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the failure of a skill",
    label = "not an error",
    note = "implement `std::error::Error` for `{Self}`; it must be `Send + Sync` and own its data"
)]
pub trait FailureSource: Error + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + Send + Sync + 'static> FailureSource for E {}

/// The error of a type that derives `SkillFailure`: its own words, its own code, itself as the source.
#[doc(hidden)]
pub fn failure<E: FailureSource>(code: &'static str, retryable: bool, error: E) -> SkillError {
    SkillError::new(code.into(), error.to_string(), retryable).with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_kept_and_the_caller_sees_the_code() {
        let failed: Result<(), _> = Err(std::io::Error::other("secret"));
        let error = failed.retryable("git_unavailable").unwrap_err();
        assert_eq!(
            (error.code(), error.message(), error.is_retryable()),
            ("git_unavailable", "git_unavailable", true)
        );
        assert_eq!(error.source().unwrap().to_string(), "secret");
        assert!(!error.is_crash());
    }

    #[test]
    fn none_is_a_failure() {
        let error = None::<u8>.terminal("missing").unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("missing", false));
        let error = None::<u8>.retryable_with("missing", "no such thing").unwrap_err();
        assert_eq!((error.message(), error.is_retryable()), ("no such thing", true));
        assert_eq!(Some(1).retryable("missing").unwrap(), 1);
    }
}
