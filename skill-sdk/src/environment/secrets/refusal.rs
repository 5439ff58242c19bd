//! Why a secret's file was not read, and how that is told.

use std::borrow::Cow;
use std::io;
use std::path::Path;

use serde_json::json;

use crate::error::SkillError;

/// Why a file that exists was not read. Holds nothing of what is in the file.
#[derive(Debug)]
pub(super) struct Refusal {
    /// Why it is not a file to be trusted, for programs; `None` when it cannot be read now, but the host's operator or time
    /// may change that.
    pub(super) reason: Option<&'static str>,
    /// The same for people.
    pub(super) why: Cow<'static, str>,
}

impl Refusal {
    pub(super) fn not_permitted() -> Self {
        Self::unreadable(
            "the user that this process runs as may not read it; \
             let that user read the file and read and search the directories on the way to it",
        )
    }

    /// The system is short of something that it will have again.
    pub(super) fn not_now(error: &io::Error) -> Self {
        Self::unreadable(format!(
            "the system cannot open it at the moment ({error}); try again"
        ))
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

    /// The failure that the caller sees.
    pub(super) fn into_error(self, name: &str, dir: &Path) -> SkillError {
        let path = dir.join(name);
        let file = format!("the file {} of secret `{name}`", path.display());
        match self.reason {
            None => SkillError::retryable(
                "secret_unreadable",
                format!("{file} cannot be read: {}", self.why),
            )
            .with_details(json!({"secret": name, "path": path.to_string_lossy()})),
            Some(reason) => {
                SkillError::terminal("secret_file_rejected", format!("{file} is refused: {}", self.why))
                    .with_details(json!({"secret": name, "reason": reason}))
            }
        }
    }
}
