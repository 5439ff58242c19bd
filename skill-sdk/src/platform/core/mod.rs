//! The platform's core: artifacts and knowledge.
//!
//! - `settings`: which variables of the environment say where the core is and who this host is there
//! - `identity`: the platform access token, from the environment or from a file
//! - `exchange`: from that token to a short-lived one for an audience
//! - `credential`: what a request carries
//! - `client`: one request with its repeats
//! - `failure`: what answers that are no success become
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

use std::sync::{Arc, LazyLock};

use quick_cache::sync::Cache;

#[cfg(feature = "connections")]
pub(crate) use self::client::Ask;
pub(crate) use self::client::CoreClient;
#[cfg(feature = "connections")]
pub(crate) use self::credential::AudienceToken;
#[cfg(feature = "connections")]
pub(super) use self::exchange::seconds;
pub(crate) use self::settings::CoreSettings;
#[cfg(feature = "connections")]
pub(crate) use self::settings::IamSettings;
use super::clock::Clock;
use super::web::{self, Transport};
use crate::environment::Environment;
use crate::error::SkillError;

/// How many configurations have a client. A server has one.
pub(super) const MOST_CLIENTS: usize = 8;

static CLIENTS: LazyLock<Cache<CoreSettings, Arc<CoreClient>>> = LazyLock::new(|| Cache::new(MOST_CLIENTS));

impl CoreClient {
    /// The client for these environment variables.
    pub(crate) fn of_environment(environment: &Environment) -> Result<Arc<Self>, SkillError> {
        let settings = CoreSettings::read(environment)?;
        CLIENTS.get_or_insert_with(&settings, || {
            let http = http(settings.uses_tls())?;
            Ok(Arc::new(Self::new(&settings, http, &Clock::default())))
        })
    }
}

/// Without `tls` only `http` addresses are reached.
pub(super) fn http(tls: bool) -> Result<Arc<dyn Transport>, SkillError> {
    let client = web::client(tls).map_err(|error| {
        let message = "no HTTP client could be made: does the host have trusted certificates?";
        SkillError::retryable("config_invalid", message).with_source(error)
    })?;
    Ok(Arc::new(client))
}
