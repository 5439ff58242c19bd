//! The platform's core: artifacts and knowledge.
//!
//! - `settings`: the environment variables for the core and the IAM
//! - `identity`: the platform access token, from the environment or from a file
//! - `iam`: exchanges that token for a short-lived token of an audience
//! - `client`: one request with retries, and the error for an unsuccessful response
//! - `artifacts`, `knowledge`: the requests of skills

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

/// The most clients that are cached, one for each configuration. A server has one.
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
