//! A value that does not print itself.

use std::fmt;

/// The value of a secret. It implements neither `Display` nor serialization, and `Debug` does not show the value.
///
/// The memory is not wiped when it is dropped: buffers of the operating system and the environment contain the value anyway.
///
/// ```
/// use skill_sdk::Secret;
///
/// let secret = Secret::new("hunter2");
/// assert_eq!(format!("{secret:?}"), "Secret(redacted)");
/// assert_eq!(secret.expose(), "hunter2");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Secret(String);

impl Secret {
    /// A secret with the value `value`.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value itself. Do not log it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether the value is empty, like that of a blank file.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn debug_shows_neither_the_value_nor_its_length() {
        for value in ["", "v", "hunter2"] {
            let shown = format!("{:?} {:#?}", Secret::new(value), Some(Secret::new(value)));
            assert_eq!(shown, "Secret(redacted) Some(\n    Secret(redacted),\n)");
        }
    }
}
