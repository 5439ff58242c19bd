//! Why a secret's file was not read, and how that is told.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde_json::json;

use crate::error::SkillError;

/// Why a file that exists was not read. Holds nothing of what is in the file.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It cannot be read now, but the host's operator or time may change that.
    Unreadable(Cow<'static, str>),
    /// It is not a file to be trusted.
    Rejected {
        /// The stable reason, for programs.
        reason: &'static str,
        /// The same for people.
        why: Cow<'static, str>,
    },
}

impl Refusal {
    pub(super) fn not_permitted() -> Self {
        Self::Unreadable(
            "the user that this process runs as may not read it; \
             let that user read the file and read and search the directories on the way to it"
                .into(),
        )
    }

    /// The system is short of something that it will have again.
    pub(super) fn not_now(error: &io::Error) -> Self {
        Self::Unreadable(format!("the system cannot open it at the moment ({error}); try again").into())
    }

    pub(super) fn outside() -> Self {
        Self::rejected(
            "outside_secrets_dir",
            "a link leads out of the secrets directory; put the file itself there, or link within the directory",
        )
    }

    pub(super) fn not_regular() -> Self {
        Self::rejected(
            "not_regular_file",
            "it is not a regular file; put the value into a regular file",
        )
    }

    /// Whatever else the system says.
    pub(super) fn from_io(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::not_permitted(),
            io::ErrorKind::OutOfMemory | io::ErrorKind::WouldBlock => Self::not_now(error),
            _ => Self::rejected("unreadable", format!("the system cannot read it: {error}")),
        }
    }

    pub(super) fn rejected(reason: &'static str, why: impl Into<Cow<'static, str>>) -> Self {
        Self::Rejected {
            reason,
            why: why.into(),
        }
    }

    /// The failure that the caller sees.
    pub(super) fn into_error(self, name: &str, dir: &Path) -> SkillError {
        let path = dir.join(name);
        match self {
            Self::Unreadable(why) => SkillError::retryable(
                "secret_unreadable",
                format!(
                    "the file {} of secret `{name}` cannot be read: {why}",
                    path.display()
                ),
            )
            .with_details(json!({"secret": name, "path": path.to_string_lossy()})),
            Self::Rejected { reason, why } => SkillError::terminal(
                "secret_file_rejected",
                format!("the file {} of secret `{name}` is refused: {why}", path.display()),
            )
            .with_details(json!({"secret": name, "reason": reason})),
        }
    }
}
