//! The settings of the secret store, from the environment of the call.

use super::super::core::settings::{address, list};
use crate::environment::Environment;
use crate::error::SkillError;

/// The default audience of the tokens for the store.
const DEFAULT_AUDIENCE: &str = "openbao";

/// The default scopes of these tokens.
const DEFAULT_SCOPES: &str = "secrets:read";

/// The settings of the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct StoreSettings {
    /// The address of the store, without a trailing slash. Without it connections have a description and no token.
    pub(crate) url: Option<String>,
    pub(crate) audience: String,
    pub(crate) scopes: Vec<String>,
    /// The role for the login. The default is `agent-<principalId>`.
    pub(crate) role: Option<String>,
}

impl StoreSettings {
    /// Fails with `config_invalid`, retryable.
    pub(crate) fn read(environment: &Environment) -> Result<Self, SkillError> {
        Ok(Self {
            url: address(environment, "SKILL_SDK_SECRET_STORE_URL")?,
            audience: environment
                .variable("SKILL_SDK_SECRET_STORE_AUDIENCE")
                .unwrap_or_else(|| DEFAULT_AUDIENCE.to_owned()),
            scopes: list(environment, "SKILL_SDK_SECRET_STORE_SCOPES")
                .unwrap_or_else(|| vec![DEFAULT_SCOPES.to_owned()]),
            role: environment.variable("SKILL_SDK_SECRET_STORE_ROLE"),
        })
    }
}
