//! Connections: accounts in other systems that an administrator of the platform has set up for this agent.
//!
//! A skill knows a connection by its key. What it is comes from the core; its token comes from the secret store, never
//! through the core.
//!
//! - `settings`: which variables of the environment say where the store is
//! - `description`: what the core says of a connection
//! - `store`: logging in to the secret store and reading from it
//! - `client`: caches, and what a refusal of the store means

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

/// How long a token and a description are kept at most.
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
