//! Caches, and what a rejection by the store means.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use quick_cache::sync::Cache;
use serde_json::json;

use super::super::cached::Cached;
use super::super::core::CoreClient;
use super::description::{ConnectionStatus, Description, expired};
use super::store::{Refused, Store, unavailable};
use super::{AccessToken, LONGEST_CACHE, StoreSettings};
use crate::environment::secrets::is_file_name;
use crate::error::SkillError;

/// How long before its expiry a token is not returned any more.
const LEAST_LIFE: Duration = Duration::from_secs(5);

/// The most connections that are cached. The platform allows an agent 20.
const MOST_KEYS: usize = 256;

/// The connections of one agent.
pub(crate) struct ConnectionsClient {
    core: Arc<CoreClient>,
    /// The store, or why tokens are not available.
    store: Result<Store, SkillError>,
    /// The max age of descriptions and tokens.
    keep: Duration,
    slots: Cache<String, Arc<Slot>>,
}

/// The cache of one connection.
struct Slot {
    /// Only the description of an active connection is cached.
    description: Cached<Arc<Description>, SkillError>,
    token: Cached<AccessToken, SkillError>,
}

impl ConnectionsClient {
    /// Caches descriptions and tokens for `keep`, at most for 60 s.
    pub(crate) fn new(core: Arc<CoreClient>, settings: &StoreSettings, keep: Duration) -> Self {
        Self {
            store: Store::new(&core, settings),
            core,
            keep: keep.min(LONGEST_CACHE),
            slots: Cache::new(MOST_KEYS),
        }
    }

    /// The description of the connection `key`.
    pub(crate) async fn describe(&self, key: &str) -> Result<Arc<Description>, SkillError> {
        self.description(&*self.slot(key)?, key, false).await
    }

    /// The token of the connection `key`. `fresh` bypasses the caches.
    pub(crate) async fn token(&self, key: &str, fresh: bool) -> Result<AccessToken, SkillError> {
        let slot = self.slot(key)?;
        let renew = || async {
            let read = self.read(&slot, key, fresh).await;
            match &read {
                Ok(token) => slot.token.set(token.clone(), self.keep.min(self.usable(token))),
                // The old token was rejected, or could not be read again.
                Err(failure) if !failure.is_retryable() => slot.token.clear_if(|_| true),
                // The services may be available again soon.
                Err(_) => {}
            }
            read
        };
        slot.token.get_or_renew(fresh, renew).await
    }

    async fn read(&self, slot: &Slot, key: &str, fresh: bool) -> Result<AccessToken, SkillError> {
        let description = self.description(slot, key, fresh).await?;
        description.check_active()?;
        let path = description.secret_ref()?;
        let store = self.store.as_ref().map_err(Clone::clone)?;
        let mut token = self.material(store, path, slot, key).await?;
        if self.usable(&token).is_zero() {
            // The store may just be renewing the token.
            token = self.material(store, path, slot, key).await?;
        }
        if self.usable(&token).is_zero() {
            return Err(lost(key, "token_expired"));
        }
        Ok(token)
    }

    async fn material(
        &self,
        store: &Store,
        path: &str,
        slot: &Slot,
        key: &str,
    ) -> Result<AccessToken, SkillError> {
        let refused = match store.read(path).await {
            Ok(token) => return Ok(token),
            Err(Refused::Failed(failure)) => return Err(failure),
            Err(refused) => refused,
        };
        slot.token.clear_if(|_| true);
        // If the status of the connection changed, the core has the reason.
        self.description(slot, key, true).await?.check_active()?;
        Err(match refused {
            Refused::Login => unavailable(
                "login_refused",
                "the secret store rejects the login of this agent",
            ),
            Refused::Read(400) => lost(key, "token_unavailable"),
            _ => {
                let message = format!(
                    "the secret store does not give access to the material of the connection {key} yet"
                );
                unavailable("access_not_granted", message)
                    .with_details(json!({"reason": "access_not_granted", "connection": key}))
            }
        })
    }

    async fn description(&self, slot: &Slot, key: &str, fresh: bool) -> Result<Arc<Description>, SkillError> {
        let look_up = || async {
            let path = format!("/agents/me/connections/{key}");
            let found = match self.core.get::<Description>(&path).await {
                Ok(description) if description.key != key => {
                    let message = format!("the core returned another connection than {key}");
                    Err(SkillError::terminal("core_error", message))
                }
                Err(failure) if failure.code() == "not_found" => Err(not_found(
                    key,
                    "it was not created, or is not shared with this agent",
                )),
                found => found.map(Arc::new),
            };
            match &found {
                Ok(description) if description.status == ConnectionStatus::Active => {
                    slot.description.set(Arc::clone(description), self.keep);
                }
                // The core may be available again soon.
                Err(failure) if failure.is_retryable() => {}
                _ => {
                    slot.token.clear_if(|_| true);
                    slot.description.clear_if(|_| true);
                }
            }
            found
        };
        slot.description.get_or_renew(fresh, look_up).await
    }

    /// How long a token may be returned.
    fn usable(&self, token: &AccessToken) -> Duration {
        let now = self.core.clock.now();
        let left = |expiry: SystemTime| expiry.duration_since(now).unwrap_or_default();
        let left = token.expires_at().map_or(Duration::MAX, left);
        left.saturating_sub(LEAST_LIFE)
    }

    fn slot(&self, key: &str) -> Result<Arc<Slot>, SkillError> {
        // Keys have the same form as the names of secret files.
        if !is_file_name(key) {
            let why = "keys must be at most 63 lower-case letters, digits and `-`";
            return Err(not_found(key, why));
        }
        self.slots.get_or_insert_with(key, || {
            Ok(Arc::new(Slot {
                description: Cached::new(&self.core.clock),
                token: Cached::new(&self.core.clock),
            }))
        })
    }
}

fn not_found(key: &str, why: &str) -> SkillError {
    let message = format!("this agent has no connection `{}`: {why}", key.escape_debug());
    SkillError::terminal("connection_not_found", message).with_details(json!({"connection": key}))
}

/// The failure of an active connection without a valid token.
fn lost(key: &str, reason: &str) -> SkillError {
    expired(key).with_details(json!({"connection": key, "reason": reason}))
}
