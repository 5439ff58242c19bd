//! Why the file of a secret was not read.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde_json::json;

use crate::error::SkillError;

/// Why a file that exists was not read. Contains nothing of the file.
#[derive(Debug)]
pub(super) struct Rejection {
    /// The reason on the wire; `None` for a retryable failure.
    pub(super) reason: Option<&'static str>,
    /// The reason for people.
    pub(super) why: Cow<'static, str>,
}

impl Rejection {
    pub(super) fn not_permitted() -> Self {
        Self::unreadable(
            "the user of this process may not read it; \
             give that user access to the file and the directories above it",
        )
    }

    /// The system is temporarily out of a resource.
    pub(super) fn not_now(error: &io::Error) -> Self {
        Self::unreadable(format!(
            "the system cannot open it at the moment ({error}); try again"
        ))
    }

    pub(super) fn outside() -> Self {
        Self::rejected(
            "outside_secrets_dir",
            "a link points outside of the secrets directory; put the file itself there, or link within the directory",
        )
    }

    pub(super) fn not_regular() -> Self {
        Self::rejected(
            "not_regular_file",
            "it is not a regular file; put the value into a regular file",
        )
    }

    /// Another error of the system.
    pub(super) fn from_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::not_permitted(),
            io::ErrorKind::OutOfMemory | io::ErrorKind::WouldBlock => Self::not_now(error),
            _ => Self::rejected("unreadable", format!("the system cannot read it: {error}")),
        }
    }

    pub(super) fn rejected(reason: &'static str, why: impl Into<Cow<'static, str>>) -> Self {
        Self {
            reason: Some(reason),
            why: why.into(),
        }
    }

    fn unreadable(why: impl Into<Cow<'static, str>>) -> Self {
        Self {
            reason: None,
            why: why.into(),
        }
    }

    /// The error for the caller.
    pub(super) fn into_error(self, name: &str, dir: &Path) -> SkillError {
        let path = dir.join(name);
        let file = format!("the file {} of secret `{name}`", path.display());
        match self.reason {
            None => SkillError::retryable(
                "secret_unreadable",
                format!("{file} cannot be read: {}", self.why),
            )
            .with_details(json!({"secret": name, "path": path.to_string_lossy()})),
            Some(reason) => SkillError::terminal(
                "secret_file_rejected",
                format!("{file} is rejected: {}", self.why),
            )
            .with_details(json!({"secret": name, "reason": reason})),
        }
    }
}
