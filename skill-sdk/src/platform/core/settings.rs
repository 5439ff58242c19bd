//! The settings for the core and the IAM, from the environment of the call.

use std::path::PathBuf;

use serde_json::json;

use super::super::web::is_web_address;
use crate::environment::Environment;
use crate::error::SkillError;

/// The audience of the core's tokens when `CONTROL_PLANE_IAM_AUDIENCE` is not set.
const DEFAULT_AUDIENCE: &str = "control-plane";

/// The settings for the core. They contain credentials, so they do not implement `Debug`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct CoreSettings {
    /// The address of the core, without a trailing slash.
    pub(crate) url: String,
    /// `CONTROL_PLANE_API_KEY`.
    pub(crate) api_key: Option<String>,
    pub(crate) iam: Option<IamSettings>,
}

/// The identity of this server in the IAM.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct IamSettings {
    /// The address of the IAM, without a trailing slash.
    pub(crate) url: String,
    pub(crate) tenant: Option<String>,
    pub(crate) audience: String,
    pub(crate) scopes: Vec<String>,
    /// `IAM_PLATFORM_ACCESS_TOKEN`.
    pub(crate) token: Option<String>,
    /// `IAM_CREDENTIAL_MODE`.
    pub(crate) mode: Option<String>,
    pub(crate) principal: Option<String>,
    /// The credentials file, in `$XDG_CONFIG_HOME` or `$HOME/.config`.
    pub(crate) file: Option<PathBuf>,
}

impl CoreSettings {
    /// Fails with `config_missing` or `config_invalid`, both retryable.
    pub(crate) fn read(environment: &Environment) -> Result<Self, SkillError> {
        let url = match address(environment, "CONTROL_PLANE_URL")? {
            None => address(environment, "CONTROL_PLANE_SERVER")?,
            url => url,
        };
        let missing = || {
            let message = "neither CONTROL_PLANE_URL nor CONTROL_PLANE_SERVER is set; set one of them to the address of the core";
            SkillError::retryable("config_missing", message)
                .with_details(json!({"config": "CONTROL_PLANE_URL"}))
        };
        Ok(Self {
            url: url.ok_or_else(missing)?,
            api_key: environment.variable("CONTROL_PLANE_API_KEY"),
            iam: IamSettings::read(environment)?,
        })
    }
}

impl IamSettings {
    fn read(environment: &Environment) -> Result<Option<Self>, SkillError> {
        let Some(url) = address(environment, "CONTROL_PLANE_IAM_URL")? else {
            return Ok(None);
        };
        let directory = |name| environment.variable(name).map(PathBuf::from);
        let config_home = directory("XDG_CONFIG_HOME").or_else(|| Some(directory("HOME")?.join(".config")));
        Ok(Some(Self {
            url,
            tenant: environment.variable("CONTROL_PLANE_IAM_TENANT"),
            audience: environment
                .variable("CONTROL_PLANE_IAM_AUDIENCE")
                .unwrap_or_else(|| DEFAULT_AUDIENCE.to_owned()),
            scopes: list(environment, "CONTROL_PLANE_IAM_SCOPES").unwrap_or_default(),
            token: environment.variable("IAM_PLATFORM_ACCESS_TOKEN"),
            mode: environment.variable("IAM_CREDENTIAL_MODE"),
            principal: environment.variable("IAM_PRINCIPAL"),
            file: config_home.map(|config| config.join("iam/credentials.json")),
        }))
    }
}

/// The words of the variable `name`, separated by white space or commas.
pub(crate) fn list(environment: &Environment, name: &str) -> Option<Vec<String>> {
    let value = environment.variable(name)?;
    let words = value.split(|c: char| c == ',' || c.is_whitespace());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

/// The address in the variable `name`, without trailing slashes.
pub(crate) fn address(environment: &Environment, name: &str) -> Result<Option<String>, SkillError> {
    let Some(value) = environment.variable(name) else {
        return Ok(None);
    };
    let url = value.trim_end_matches('/');
    if is_web_address(url) {
        return Ok(Some(url.to_owned()));
    }
    // The value may contain a password.
    Err(SkillError::retryable(
        "config_invalid",
        format!(
            "{name} must be an address such as `https://platform.example.com`, without user name, `?` and `#`"
        ),
    )
    .with_details(json!({"config": name})))
}
