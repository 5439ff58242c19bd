//! The platform's core: artifacts and knowledge.
//!
//! - `settings`: which variables of the environment say where the core is and who this host is there
//! - `identity`: the platform access token, from the environment or from a file
//! - `exchange`: from that token to a short-lived one for an audience
//! - `credential`: what a request carries
//! - `client`: one request with its repeats
//! - `failure`: what went wrong, as a value that several calls can share
//! - `artifacts`, `knowledge`: the requests of skills

pub(crate) mod artifacts;
mod client;
mod credential;
mod exchange;
mod failure;
mod identity;
pub(crate) mod knowledge;
pub(super) mod settings;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

#[cfg(feature = "connections")]
pub(crate) use self::client::Ask;
pub(crate) use self::client::CoreClient;
#[cfg(feature = "connections")]
pub(crate) use self::credential::AudienceToken;
pub(crate) use self::failure::Failure;
pub(crate) use self::settings::CoreSettings;
#[cfg(all(feature = "connections", any(test, feature = "testing")))]
pub(crate) use self::settings::IamSettings;
use super::client_cache::ClientCache;
use super::clock::Clock;
use super::web::{Http, Transport};
use crate::environment::Environment;
use crate::error::SkillError;

static CLIENTS: ClientCache<CoreSettings, CoreClient> = ClientCache::new();

impl CoreClient {
    /// The client for these environment variables.
    pub(crate) fn of_environment(environment: &Environment) -> Result<Arc<Self>, SkillError> {
        CLIENTS.get(CoreSettings::read(environment)?, |settings| {
            let http: Arc<dyn Transport> = Arc::new(Http::new(settings.uses_tls())?);
            Ok(Self::new(settings, http, &Clock::default()))
        })
    }
}
