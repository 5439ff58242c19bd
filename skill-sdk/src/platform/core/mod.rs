//! The platform's core: artifacts and knowledge.
//!
//! - `settings`: which variables of the environment say where the core is and who this host is there
//! - `identity`: the platform access token, from the environment or from a file
//! - `iam`: from that token to a short-lived one for an audience
//! - `client`: one request with its repeats, and what answers that are no success become
//! - `artifacts`, `knowledge`: what skills ask for

pub(crate) mod artifacts;
mod client;
mod iam;
mod identity;
pub(crate) mod knowledge;
pub(super) mod settings;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::{Arc, LazyLock};

use quick_cache::sync::Cache;

pub(crate) use self::client::CoreClient;
pub(crate) use self::iam::AudienceToken;
#[cfg(feature = "connections")]
pub(super) use self::iam::seconds;
pub(crate) use self::settings::{CoreSettings, IamSettings};
use super::clock::Clock;
use super::web::Web;
use crate::environment::Environment;
use crate::error::SkillError;

/// How many configurations have a client. A server has one.
pub(super) const MOST_CLIENTS: usize = 64;

static CLIENTS: LazyLock<Cache<CoreSettings, Arc<CoreClient>>> = LazyLock::new(|| Cache::new(MOST_CLIENTS));

impl CoreClient {
    /// The client for these environment variables.
    pub(crate) fn of_environment(environment: &Environment) -> Result<Arc<Self>, SkillError> {
        let settings = CoreSettings::read(environment)?;
        CLIENTS.get_or_insert_with(&settings, || {
            Ok(Arc::new(Self::new(&settings, Arc::new(Web), &Clock::default())))
        })
    }
}
