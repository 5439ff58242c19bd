//! A configuration value that cannot be used.

use std::error::Error;
use std::fmt;

/// A configuration value is missing or cannot be used. The text says which one, and what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(String);

impl ConfigError {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The value of a setting does not have the expected form.
    #[cfg(feature = "http")]
    pub(crate) fn form(setting: &str, value: &str, expected: &str) -> Self {
        Self(format!("the {setting} `{value}` must have the form {expected}"))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ConfigError {}
