//! Valid names of secrets.

use crate::error::SkillError;

/// The form of names that can be files, for messages.
pub(super) const FORM: &str = "[a-z0-9][a-z0-9-]{0,62}";

/// The longest name of a secret in a file, in bytes.
const MAX_FILE_NAME: usize = 63;

/// The credential of an agent's own node. It is in the same directory and is not a secret of skills.
const RESERVED: &str = "agent-pat";

/// Whether `name` may name a secret: not empty, no `/`, `\`, `..` or NUL, and not the reserved `agent-pat`.
///
/// # Errors
/// `secret_name_invalid`, not retryable. The message does not contain the name: it may be a secret that was passed by mistake.
///
/// ```
/// use skill_sdk::secrets::check_secret_name;
///
/// assert!(check_secret_name("FORGE_TOKEN").is_ok());
/// assert_eq!(check_secret_name("../etc/passwd").unwrap_err().code(), "secret_name_invalid");
/// ```
pub fn check_secret_name(name: &str) -> Result<(), SkillError> {
    let wrong = if name.is_empty() {
        "the name of the secret is empty; give the name of an environment variable or of a file in the secrets directory"
    } else if name.contains(['/', '\\', '\0']) || name.contains("..") {
        "the name of the secret looks like a path; use a plain name without `/`, `\\`, `..` and NUL"
    } else if name == RESERVED {
        "the name `agent-pat` is reserved for the agent's own credential on its node, which no skill may read; use another name"
    } else {
        return Ok(());
    };
    Err(invalid(wrong))
}

/// The error for an invalid name.
pub(super) fn invalid(message: impl Into<String>) -> SkillError {
    SkillError::terminal("secret_name_invalid", message)
}

/// Whether a secret with this name can be a file: the name matches [`FORM`].
pub(crate) fn is_file_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    name.len() <= MAX_FILE_NAME && !name.is_empty() && !name.starts_with('-') && name.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        for good in [
            "a",
            "EXT_TOKEN",
            "ext-token",
            "a.b",
            ".",
            "a b",
            "a\n",
            "токен",
            "agent-pat2",
            "AGENT-PAT",
        ] {
            assert!(check_secret_name(good).is_ok(), "{good:?}");
        }
        for bad in [
            "",
            "/",
            "a/b",
            "/abs",
            "a\\b",
            "..",
            "a..b",
            "..data",
            "a\0b",
            "agent-pat",
        ] {
            let error = check_secret_name(bad).unwrap_err();
            assert_eq!(
                (error.code(), error.is_retryable(), error.details()),
                ("secret_name_invalid", false, None),
                "{bad:?}"
            );
        }
    }

    #[test]
    fn the_error_does_not_contain_the_name() {
        let error = check_secret_name("postgres://user:hunter2@host/base").unwrap_err();
        assert!(!format!("{error:?}").contains("hunter2"));
    }

    #[test]
    fn names_of_files() {
        for good in ["a", "0a", "ext-token", "a-", "a--b", &"a".repeat(63)] {
            assert!(is_file_name(good), "{good:?}");
        }
        for bad in [
            "",
            "-a",
            "A",
            "ext_token",
            "a.b",
            "a\n",
            "\na",
            "a b",
            "é",
            "..",
            &"a".repeat(64),
        ] {
            assert!(!is_file_name(bad), "{bad:?}");
        }
    }
}
