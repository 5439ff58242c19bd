//! Names that are safe to pass to `git`: a value of these types is never an option, a range or a path outside of the
//! root.
//!
//! The pattern in the schema is for callers. It uses the subset of regular expressions that all validators support. The
//! check functions below are authoritative, also for callers within this program.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// The longest name of a repository or a branch, in characters.
const LONGEST: usize = 200;

/// Why a name is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameError(&'static str);

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for NameError {}

/// Declares a name type with its check and its schema.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $lengths:expr, $pattern:literal, $check:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as a string.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                $check(&text).map(|()| Self(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            // A string with a pattern is as short as a reference to it.
            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let (shortest, longest) = $lengths;
                json_schema!({"type": "string", "minLength": shortest, "maxLength": longest, "pattern": $pattern})
            }
        }
    };
}

name!(
    /// The path of a repository below the root: directory names separated by `/`.
    ///
    /// No segment starts with a dot or a dash, which excludes `..`, `.git` and options.
    RepositoryName,
    (1, LONGEST),
    "^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$",
    check_repository
);

name!(
    /// The name of a branch without `refs/heads/`, by the rules of `git check-ref-format`.
    BranchName,
    (1, LONGEST),
    r"^[^\s~^:?*\[\\./-][^\s~^:?*\[\\]*$",
    check_branch
);

name!(
    /// The full id of a commit: 40 or 64 hexadecimal digits. An abbreviated id may become ambiguous.
    CommitId,
    (40, 64),
    "^([0-9a-f]{40}|[0-9a-f]{64})$",
    check_commit
);

fn check_repository(name: &str) -> Result<(), NameError> {
    check_length(name)?;
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
            && part
                .chars()
                .all(|letter| letter.is_ascii_alphanumeric() || "_.-".contains(letter))
    };
    if name.split('/').all(is_part) {
        Ok(())
    } else {
        Err(NameError(
            "a repository is named by ASCII letters, digits, `_`, `.` and `-`, with `/` between its parts, and each \
             part starts with a letter, a digit or `_`",
        ))
    }
}

fn check_branch(name: &str) -> Result<(), NameError> {
    check_length(name)?;
    let refused = |letter: char| letter.is_control() || letter.is_whitespace() || "~^:?*[\\".contains(letter);
    let complaint = if name.contains(refused) {
        "a branch name must not contain white space, control characters or `~^:?*[\\`"
    } else if name.starts_with('-') {
        "a branch name must not start with `-`"
    } else if name.contains("..") || name.contains("@{") || name == "@" {
        "a branch name must not be `@` or contain `..` or `@{`"
    } else if name.split('/').any(is_reserved) {
        "a segment of a branch name must not be empty, start with `.` or end with `.lock`"
    } else if name.ends_with('.') {
        "a branch name must not end with `.`"
    } else {
        return Ok(());
    };
    Err(NameError(complaint))
}

/// Whether `git` reserves this segment of a branch name. On a case-insensitive file system `.LOCK` is the same as
/// `.lock`.
fn is_reserved(part: &str) -> bool {
    part.is_empty() || part.starts_with('.') || part.to_ascii_lowercase().ends_with(".lock")
}

fn check_commit(id: &str) -> Result<(), NameError> {
    let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    if matches!(id.len(), 40 | 64) && id.bytes().all(is_digit) {
        Ok(())
    } else {
        Err(NameError(
            "a commit must be 40 or 64 lower-case hexadecimal digits",
        ))
    }
}

fn check_length(name: &str) -> Result<(), NameError> {
    if name.chars().count() <= LONGEST {
        Ok(())
    } else {
        Err(NameError("a name must have at most 200 characters"))
    }
}
