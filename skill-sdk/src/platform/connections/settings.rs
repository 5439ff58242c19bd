//! Where the secret store is, from the environment of the call.

use super::super::core::settings::{address, list};
use crate::environment::Environment;
use crate::error::SkillError;

/// The audience of the tokens for the store when nothing else is said.
const DEFAULT_AUDIENCE: &str = "openbao";

/// The scopes of these tokens when nothing else is said.
const DEFAULT_SCOPES: &str = "secrets:read";

/// What the environment says of the store.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct StoreSettings {
    /// The address of the store, without a slash at its end; `None`: connections are described, and have no token.
    pub(crate) url: Option<String>,
    pub(crate) audience: String,
    pub(crate) scopes: Vec<String>,
    /// The role to log in with; `None`: `agent-<principalId>`.
    pub(crate) role: Option<String>,
}

impl StoreSettings {
    /// The code of a failure is `config_invalid`, retryable.
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
