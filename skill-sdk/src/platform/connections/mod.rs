//! Connections: accounts in other systems that an administrator of the platform has set up for this agent.
//!
//! A skill refers to a connection by its key. The core describes the connection. Its token comes from the secret store, never
//! through the core.
//!
//! - `settings`: the environment variables of the store
//! - `description`: the description of a connection by the core
//! - `store`: logging in to the secret store and reading from it
//! - `client`: caches, and what a rejection by the store means

mod client;
mod description;
mod settings;
mod store;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use quick_cache::sync::Cache;

pub(crate) use self::client::ConnectionsClient;
pub use self::description::ConnectionStatus;
pub(crate) use self::description::Description;
pub(crate) use self::settings::StoreSettings;
pub use self::store::AccessToken;
use super::core::{CoreClient, CoreSettings, MOST_CLIENTS};
use crate::environment::Environment;
use crate::error::SkillError;

/// The longest max age of a token and a description.
pub(crate) const LONGEST_CACHE: Duration = Duration::from_mins(1);

type Clients = Cache<(CoreSettings, StoreSettings), Arc<ConnectionsClient>>;

static CLIENTS: LazyLock<Clients> = LazyLock::new(|| Cache::new(MOST_CLIENTS));

impl ConnectionsClient {
    /// The client for these environment variables.
    pub(crate) fn of_environment(environment: &Environment) -> Result<Arc<Self>, SkillError> {
        let core = CoreClient::of_environment(environment)?;
        let settings = (core.settings.clone(), StoreSettings::read(environment)?);
        CLIENTS.get_or_insert_with(&settings, || {
            Ok(Arc::new(Self::new(core, &settings.1, LONGEST_CACHE)))
        })
    }
}
