//! The source of configuration and secrets of a call.

pub(crate) mod secrets;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub use self::secrets::Secret;
use crate::error::SkillError;

/// The environment of a call: the environment variables of the process, or variables of its own.
///
/// A test can give each call variables of its own without changing the process.
#[derive(Clone, Default)]
pub struct Environment {
    /// `None`: the process alone.
    own: Option<Arc<BTreeMap<String, String>>>,
    /// Whether variables of the process are hidden.
    isolated: bool,
}

impl Environment {
    /// The environment of the process.
    pub fn process() -> Self {
        Self::default()
    }

    /// The given variables only.
    pub fn from_vars(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            own: Some(Arc::new(variables.into_iter().collect())),
            isolated: true,
        }
    }

    /// The environment of the process. The given variables take precedence.
    #[cfg(any(test, feature = "host"))]
    pub(crate) fn overlay(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            own: Some(Arc::new(variables.into_iter().collect())),
            isolated: false,
        }
    }

    /// The variable `name`; `None` if it is not set or not UTF-8.
    pub fn config(&self, name: &str) -> Option<String> {
        if let Some(value) = self.own.as_ref().and_then(|own| own.get(name)) {
            return Some(value.clone());
        }
        // `std::env::var` panics on names that are not valid.
        if self.isolated || name.is_empty() || name.contains(['=', '\0']) {
            return None;
        }
        std::env::var(name).ok()
    }

    /// The variable `name`, trimmed; `None` if it is blank.
    #[cfg(any(feature = "core", feature = "llm"))]
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let value = self.config(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| value.to_owned())
    }

    /// Whether the variables of the process are hidden.
    #[cfg(feature = "llm")]
    pub(crate) fn is_isolated(&self) -> bool {
        self.isolated
    }

    /// The variables that are not of the process.
    #[cfg(feature = "llm")]
    pub(crate) fn own(&self) -> impl Iterator<Item = (&String, &String)> {
        self.own.iter().flat_map(|own| own.iter())
    }

    /// The secret `name`; see [`SkillContext::secret`](crate::SkillContext::secret).
    ///
    /// # Errors
    ///
    /// Those of [`SkillContext::secret`](crate::SkillContext::secret).
    pub fn secret(&self, name: &str) -> Result<Secret, SkillError> {
        secrets::read_secret(
            name,
            |name| self.config(name),
            &secrets::secrets_dir(|name| self.config(name)),
        )
    }
}

/// Shows names only: a value may be a secret.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.own.iter().flat_map(|own| own.keys()).collect();
        f.debug_struct("Environment")
            .field("own", &names)
            .field("isolated", &self.isolated)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_variables_take_precedence() {
        let own = [("SKILL_SDK_TEST".to_owned(), "own".to_owned())];
        assert_eq!(
            Environment::overlay(own.clone())
                .config("SKILL_SDK_TEST")
                .as_deref(),
            Some("own")
        );
        assert!(Environment::overlay(own.clone()).config("PATH").is_some());
        assert_eq!(Environment::from_vars(own.clone()).config("PATH"), None);
        assert!(!format!("{:?}", Environment::from_vars(own)).contains("\"own\""));
    }

    #[test]
    fn invalid_names_are_not_set() {
        for name in ["", "A=B", "A\0"] {
            assert_eq!(Environment::process().config(name), None, "{name:?}");
        }
    }
}
