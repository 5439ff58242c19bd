//! Whose tokens count: three variables, all of them or none.

use std::error::Error;
use std::fmt;

use crate::context::Environment;

/// The variable that names the issuer of tokens.
pub const IAM_ISSUER: &str = "SKILL_SDK_IAM_ISSUER";

/// The variable that names the audience which tokens must be for.
pub const AUDIENCE: &str = "SKILL_SDK_AUDIENCE";

/// The variable that says where the keys of the issuer are.
pub const JWKS_URL: &str = "SKILL_SDK_JWKS_URL";

/// Whose tokens a host takes.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthSettings {
    /// The issuer, which the claim `iss` must equal to the letter.
    pub issuer: String,
    /// The audience, which the claim `aud` must equal to the letter.
    pub audience: String,
    /// The URL of the JWKS document with the keys of the issuer.
    pub jwks_url: String,
}

impl AuthSettings {
    /// Takes tokens of `issuer` for `audience`, signed with a key of the document at `jwks_url`.
    ///
    /// # Errors
    ///
    /// A text is blank, or begins or ends with white space.
    pub fn new(
        issuer: impl Into<String>,
        audience: impl Into<String>,
        jwks_url: impl Into<String>,
    ) -> Result<Self, SettingsError> {
        Self::checked(issuer.into(), audience.into(), jwks_url.into())
    }

    /// Reads the three variables [`IAM_ISSUER`], [`AUDIENCE`] and [`JWKS_URL`].
    ///
    /// # Errors
    ///
    /// Variables are missing or blank: all of them are named. Or one begins or ends with white space.
    pub fn from_environment(environment: &Environment) -> Result<Self, SettingsError> {
        let [issuer, audience, jwks_url] =
            [IAM_ISSUER, AUDIENCE, JWKS_URL].map(|name| environment.config(name).unwrap_or_default());
        Self::checked(issuer, audience, jwks_url)
    }

    fn checked(issuer: String, audience: String, jwks_url: String) -> Result<Self, SettingsError> {
        let named = [
            (IAM_ISSUER, &issuer),
            (AUDIENCE, &audience),
            (JWKS_URL, &jwks_url),
        ];
        let missing: Vec<&'static str> = named
            .iter()
            .filter(|(_, value)| value.trim().is_empty())
            .map(|(name, _)| *name)
            .collect();
        if !missing.is_empty() {
            return Err(SettingsError::Missing(missing));
        }
        if let Some((name, _)) = named.iter().find(|(_, value)| value.trim() != value.as_str()) {
            return Err(SettingsError::WhiteSpace(name));
        }
        Ok(Self {
            issuer,
            audience,
            jwks_url,
        })
    }
}

/// The URL may be a secret of the installation in parts: only its host is shown.
impl fmt::Debug for AuthSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthSettings")
            .field("issuer", &self.issuer)
            .field("audience", &self.audience)
            .field("jwks_host", &host(&self.jwks_url))
            .finish()
    }
}

/// The host of a URL, with its port; nothing of a URL that has none.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    authority.rsplit('@').next()
}

/// Why a host cannot check callers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// Settings are missing or blank. These are the names of their variables.
    Missing(Vec<&'static str>),
    /// A setting begins or ends with white space, so it would equal nothing. This is the name of its variable.
    WhiteSpace(&'static str),
    /// Keys cannot be fetched from the URL. This says why.
    JwksUrl(String),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(names) => {
                let verb = if names.len() == 1 { "is" } else { "are" };
                write!(
                    f,
                    "callers cannot be checked: {} {verb} not set",
                    names.join(", ")
                )?;
                if names.len() < 3 {
                    write!(f, "; {IAM_ISSUER}, {AUDIENCE} and {JWKS_URL} are all needed")?;
                }
                Ok(())
            }
            Self::WhiteSpace(name) => write!(
                f,
                "callers cannot be checked: {name} begins or ends with white space; remove it"
            ),
            Self::JwksUrl(why) => write!(f, "callers cannot be checked: {JWKS_URL} {why}"),
        }
    }
}

impl Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: [Option<&str>; 3]) -> Result<AuthSettings, SettingsError> {
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
            assert_eq!(error, SettingsError::Missing(missing));
        }
    }

    #[test]
    fn of_the_url_only_the_host_is_printed() {
        let url = "https://hunter2:hunter2@iam.example/hunter2?key=hunter2#hunter2";
        let settings = read([Some("i"), Some("a"), Some(url)]).unwrap();
        let printed = format!("{settings:?}");
        assert!(
            printed.contains("iam.example") && !printed.contains("hunter2"),
            "{printed}"
        );
        let settings = read([Some("i"), Some("a"), Some("hunter2")]).unwrap();
        assert!(!format!("{settings:?}").contains("hunter2"));
    }

    #[test]
    fn white_space_around_a_setting_is_a_mistake_that_nobody_would_see() {
        assert_eq!(
            read([Some("i"), Some("a\n"), Some("u")]),
            Err(SettingsError::WhiteSpace(AUDIENCE))
        );
    }
}
