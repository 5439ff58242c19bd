//! The connections of the agent.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::SkillContext;
use crate::error::SkillError;
use crate::platform::connections::{AccessToken, ConnectionStatus, ConnectionsClient, Description};

impl SkillContext {
    /// The connection `key`: lower-case letters, digits and `-`, at most 63. Needs feature `connections`.
    ///
    /// The description may be up to 60 s old.
    ///
    /// ```
    /// use skill_sdk::{SkillContext, SkillError, skill};
    ///
    /// /// The account of the helpdesk.
    /// #[skill("helpdesk.account", version = "1", side_effects = "external_read", risk = "low")]
    /// async fn account(ctx: &SkillContext) -> Result<Option<String>, SkillError> {
    ///     let helpdesk = ctx.connection("helpdesk").await?;
    ///     let token = helpdesk.access_token().await?; // for each request: it is cached
    ///     let _header = format!("Bearer {}", token.expose());
    ///     Ok(helpdesk.account().map(str::to_owned))
    /// }
    /// ```
    ///
    /// # Errors
    /// `connection_not_found` if this agent has no connection with this key, `core_unavailable` and `config_missing`
    /// (retryable), or another code of the core. A pending, expired or revoked connection is not an error.
    pub async fn connection(&self, key: &str) -> Result<Connection, SkillError> {
        let client = self.connections()?;
        let description = self.bounded(client.describe(key)).await?;
        Ok(Connection {
            description,
            client,
            context: self.clone(),
        })
    }

    /// The client of the call: the mock of a test, or the client for the environment.
    fn connections(&self) -> Result<Arc<ConnectionsClient>, SkillError> {
        match &self.0.meta.services.connections {
            Some(connections) => Ok(Arc::clone(connections)),
            None => ConnectionsClient::of_environment(self.environment()),
        }
    }
}

/// An account in another system.
///
/// It may be moved to other tasks. Its requests end with the call.
#[derive(Clone)]
pub struct Connection {
    description: Arc<Description>,
    client: Arc<ConnectionsClient>,
    context: SkillContext,
}

impl Connection {
    /// Its key.
    pub fn key(&self) -> &str {
        &self.description.key
    }

    /// Its type, which identifies the system, such as `helpdesk`.
    pub fn connection_type(&self) -> &str {
        &self.description.kind
    }

    /// The version of its type.
    pub fn type_version(&self) -> Option<u64> {
        self.description.type_version
    }

    /// The account in the other system.
    pub fn account(&self) -> Option<&str> {
        self.description.account.as_deref()
    }

    /// How it authenticates, such as `oauth2` or `token`.
    pub fn auth(&self) -> Option<&str> {
        self.description.auth.as_deref()
    }

    /// Whether it can be used.
    pub fn status(&self) -> &ConnectionStatus {
        &self.description.status
    }

    /// Its settings, without secrets.
    pub fn settings(&self) -> &Map<String, Value> {
        &self.description.settings
    }

    /// Its settings, deserialized.
    ///
    /// # Errors
    ///
    /// `settings_invalid` (terminal) if the settings cannot be deserialized into `T`.
    pub fn settings_as<T: DeserializeOwned>(&self) -> Result<T, SkillError> {
        T::deserialize(Value::Object(self.settings().clone())).map_err(|error| {
            let message = format!(
                "the settings of the connection {} are invalid: {error}",
                self.key()
            );
            SkillError::terminal("settings_invalid", message)
        })
    }

    /// The token for the other system. Call this before each request: the token is cached for at most 60 s, and never later than
    /// 5 s before its expiry.
    ///
    /// # Errors
    /// - `connection_revoked`, `connection_expired`, `connection_pending`, `connection_not_found`: an
    ///   administrator must set the connection up
    /// - `secret_store_unavailable` (retryable): `details.reason` has the reason
    /// - `secret_ref_invalid`, `secret_material_malformed`: the configuration of the platform is invalid
    /// - `agent_identity_missing`: the core does not know this server as an agent
    /// - the codes of the core and of the IAM
    pub async fn access_token(&self) -> Result<AccessToken, SkillError> {
        self.token(false).await
    }

    /// The current token, without the cache. Use this if the other system rejected the cached token.
    ///
    /// # Errors
    /// Those of [`access_token`](Self::access_token).
    pub async fn access_token_fresh(&self) -> Result<AccessToken, SkillError> {
        self.token(true).await
    }

    async fn token(&self, fresh: bool) -> Result<AccessToken, SkillError> {
        self.context.bounded(self.client.token(self.key(), fresh)).await
    }
}

debug_fields!(Connection { description });
