//! Connections: accounts in other systems that an administrator of the platform has set up for this agent.
//!
//! A skill knows a connection by its key. What it is comes from the core; its token comes from the secret store, never
//! through the core.
//!
//! - `settings`: which variables of the environment say where the store is
//! - `description`: what the core says of a connection
//! - `store`: logging in to the secret store and reading from it
//! - `client`: caches, and what a refusal of the store means
//! - `token`: [`AccessToken`]
//! - `failure`: the failures

mod client;
mod description;
mod failure;
mod settings;
mod store;
#[cfg(test)]
mod tests;
mod token;

use std::sync::Arc;
use std::time::Duration;

pub(crate) use self::client::ConnectionsClient;
pub use self::description::ConnectionStatus;
pub(crate) use self::description::Description;
pub(crate) use self::settings::StoreSettings;
pub use self::token::AccessToken;
use super::client_cache::ClientCache;
use super::clock::Clock;
use super::core::{CoreClient, CoreSettings};
use super::web::{Http, Transport};
use crate::environment::Environment;
use crate::error::SkillError;

/// How long a token and a description are kept at most.
pub const LONGEST_CACHE: Duration = Duration::from_mins(1);

static CLIENTS: ClientCache<(CoreSettings, StoreSettings), ConnectionsClient> = ClientCache::new();

impl ConnectionsClient {
    /// The client for these environment variables.
    pub(crate) fn of_environment(environment: &Environment) -> Result<Arc<Self>, SkillError> {
        let settings = (
            CoreSettings::read(environment)?,
            StoreSettings::read(environment)?,
        );
        CLIENTS.get(settings, |(core, store)| {
            let http: Arc<dyn Transport> = Arc::new(Http::new(core.uses_tls() || store.uses_tls())?);
            let core = CoreClient::new(core, http, &Clock::default());
            Ok(Self::new(Arc::new(core), store, LONGEST_CACHE))
        })
    }
}
