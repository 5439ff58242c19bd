//! Names that are safe to hand to `git`: a value of these types cannot be an option, a range or a way out of the root.
//!
//! The pattern in the schema is what a caller sees; it keeps to the subset of regular expressions that all validators
//! share. The function below it is what holds, also for callers within this program.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// The longest name of a repository or a branch, in characters.
const LONGEST: usize = 200;

/// What is wrong with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameError(&'static str);

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for NameError {}

/// Declares a name with its check and its schema.
macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $lengths:expr, $pattern:literal, $check:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as text.
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

            // A text with a pattern is as short as a reference to it.
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
    /// The path of a repository below the root: names of directories, separated by `/`.
    ///
    /// No part starts with a dot or a dash, so that neither `..` nor `.git` nor an option can be written.
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
    /// The id of a commit in full: 40 or 64 hexadecimal digits. A part of one would say something else tomorrow.
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
        "the name of a branch holds no white space, no control character and none of `~^:?*[\\`"
    } else if name.starts_with('-') {
        "the name of a branch does not start with `-`"
    } else if name.contains("..") || name.contains("@{") || name == "@" {
        "the name of a branch is not `@` and holds neither `..` nor `@{`"
    } else if name.split('/').any(is_reserved) {
        "no part of a branch's name is empty, starts with `.` or ends with `.lock`"
    } else if name.ends_with('.') {
        "the name of a branch does not end with `.`"
    } else {
        return Ok(());
    };
    Err(NameError(complaint))
}

/// Whether a part of a branch's name is one that `git` keeps for itself, also where the file system does not tell `.lock`
/// from `.LOCK`.
fn is_reserved(part: &str) -> bool {
    part.is_empty() || part.starts_with('.') || part.to_ascii_lowercase().ends_with(".lock")
}

fn check_commit(id: &str) -> Result<(), NameError> {
    let is_digit = |digit: u8| matches!(digit, b'0'..=b'9' | b'a'..=b'f');
    if matches!(id.len(), 40 | 64) && id.bytes().all(is_digit) {
        Ok(())
    } else {
        Err(NameError(
            "a commit is given as 40 or 64 hexadecimal digits in lower case",
        ))
    }
}

fn check_length(name: &str) -> Result<(), NameError> {
    if name.chars().count() <= LONGEST {
        Ok(())
    } else {
        Err(NameError("a name has at most 200 characters"))
    }
}
