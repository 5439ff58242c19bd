//! The issuer and the audience of accepted tokens: three environment variables, all of them or none.

use std::fmt;

use crate::context::Environment;
use crate::error::ConfigError;

/// The environment variable with the issuer of tokens.
pub const IAM_ISSUER: &str = "SKILL_SDK_IAM_ISSUER";

/// The environment variable with the audience that tokens must have.
pub const AUDIENCE: &str = "SKILL_SDK_AUDIENCE";

/// The environment variable with the URL of the issuer's keys.
pub const JWKS_URL: &str = "SKILL_SDK_JWKS_URL";

/// Which tokens a server accepts.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthSettings {
    /// The issuer, which the claim `iss` must equal exactly.
    pub issuer: String,
    /// The audience, which the claim `aud` must equal exactly.
    pub audience: String,
    /// The URL of the JWKS document with the keys of the issuer.
    pub jwks_url: String,
}

impl AuthSettings {
    /// Accepts tokens of `issuer` for `audience`, signed with a key of the document at `jwks_url`.
    ///
    /// # Errors
    ///
    /// A text is blank, or begins or ends with white space.
    pub fn new(
        issuer: impl Into<String>,
        audience: impl Into<String>,
        jwks_url: impl Into<String>,
    ) -> Result<Self, ConfigError> {
        let (issuer, audience, jwks_url) = (issuer.into(), audience.into(), jwks_url.into());
        let named = [
            (IAM_ISSUER, &issuer),
            (AUDIENCE, &audience),
            (JWKS_URL, &jwks_url),
        ];
        let blank = named.iter().filter(|(_, value)| value.trim().is_empty());
        let missing: Vec<&str> = blank.map(|(name, _)| *name).collect();
        if !missing.is_empty() {
            let missing = missing.join(", ");
            return Err(ConfigError::new(format!(
                "{missing} must be set to authenticate callers"
            )));
        }
        if let Some((name, _)) = named.iter().find(|(_, value)| value.trim() != value.as_str()) {
            return Err(ConfigError::new(format!(
                "{name} must not begin or end with white space"
            )));
        }
        Ok(Self {
            issuer,
            audience,
            jwks_url,
        })
    }

    /// Reads [`IAM_ISSUER`], [`AUDIENCE`] and [`JWKS_URL`].
    ///
    /// # Errors
    ///
    /// Variables are missing or blank: the error names all of them. Or one begins or ends with white space.
    pub fn from_environment(environment: &Environment) -> Result<Self, ConfigError> {
        let read = |name| environment.config(name).unwrap_or_default();
        Self::new(read(IAM_ISSUER), read(AUDIENCE), read(JWKS_URL))
    }
}

/// Without the URL, which may hold a key.
impl fmt::Debug for AuthSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthSettings")
            .field("issuer", &self.issuer)
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: [Option<&str>; 3]) -> Result<AuthSettings, ConfigError> {
        let names = [IAM_ISSUER, AUDIENCE, JWKS_URL];
        let set = names
            .into_iter()
            .zip(values)
            .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        AuthSettings::from_environment(&Environment::from_vars(set))
    }

    #[test]
    fn all_three_or_the_names_of_those_that_are_missing() {
        let settings = read([Some("i"), Some("a"), Some("u")]).unwrap();
        assert_eq!(
            (settings.issuer, settings.audience, settings.jwks_url),
            ("i".into(), "a".into(), "u".into())
        );
        for (values, missing) in [
            ([None, Some("a"), Some("u")], vec![IAM_ISSUER]),
            ([Some("i"), Some(""), Some("u")], vec![AUDIENCE]),
            ([Some("i"), Some("a"), Some(" \n")], vec![JWKS_URL]),
            ([None, Some("a"), None], vec![IAM_ISSUER, JWKS_URL]),
            ([None, None, None], vec![IAM_ISSUER, AUDIENCE, JWKS_URL]),
        ] {
            let error = read(values).unwrap_err();
            let text = error.to_string();
            assert!(text.contains(&format!("{} ", missing.join(", "))), "{text}");
            assert!(!text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn the_url_is_not_printed() {
        let url = "https://hunter2:hunter2@iam.example/hunter2?key=hunter2#hunter2";
        let settings = read([Some("i"), Some("a"), Some(url)]).unwrap();
        let printed = format!("{settings:?}");
        assert!(!printed.contains("hunter2"), "{printed}");
        let settings = read([Some("i"), Some("a"), Some("hunter2")]).unwrap();
        assert!(!format!("{settings:?}").contains("hunter2"));
    }

    #[test]
    fn white_space_around_a_setting_is_a_mistake_that_nobody_would_see() {
        let error = read([Some("i"), Some("a\n"), Some("u")]).unwrap_err().to_string();
        assert!(
            error.contains(AUDIENCE) && error.contains("white space"),
            "{error}"
        );
    }
}
