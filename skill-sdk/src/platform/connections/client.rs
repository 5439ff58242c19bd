//! Caches, and what a refusal of the store means.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::super::cached::Cached;
use super::super::core::{Ask, CoreClient, Failure};
use super::description::{ConnectionStatus, Description, is_key};
use super::store::{Refused, Store};
use super::{AccessToken, LONGEST_CACHE, StoreSettings, failure};

/// How long before its expiry a token is not handed out any more.
const LEAST_LIFE: Duration = Duration::from_secs(5);

/// The most connections that are remembered. An agent has at most 20.
const MOST_KEYS: usize = 256;

/// The connections of one agent.
pub(crate) struct ConnectionsClient {
    core: Arc<CoreClient>,
    /// Or why there are no tokens.
    store: Result<Store, Failure>,
    /// How long descriptions and tokens are kept.
    keep: Duration,
    slots: Mutex<HashMap<String, Arc<Slot>>>,
}

/// What is cached of one connection.
struct Slot {
    /// Only the description of a connection that can be used is kept.
    description: Cached<Arc<Description>, Failure>,
    token: Cached<AccessToken, Failure>,
}

impl ConnectionsClient {
    /// Keeps descriptions and tokens for `keep`, at most for 60 seconds.
    pub(crate) fn new(core: Arc<CoreClient>, settings: &StoreSettings, keep: Duration) -> Self {
        Self {
            store: Store::new(&core, settings),
            core,
            keep: keep.min(LONGEST_CACHE),
            slots: Mutex::default(),
        }
    }

    /// What the connection `key` is.
    pub(crate) async fn describe(&self, key: &str) -> Result<Arc<Description>, Failure> {
        if !is_key(key) {
            return Err(failure::impossible_key(key));
        }
        self.description(&self.slot(key), key, false).await
    }

    /// The token of the connection `key`, past the caches with `fresh`.
    pub(crate) async fn token(&self, key: &str, fresh: bool) -> Result<AccessToken, Failure> {
        if !is_key(key) {
            return Err(failure::impossible_key(key));
        }
        let slot = self.slot(key);
        // By the wall clock too: that of the cache stands still while a machine sleeps.
        let usable = |token: &AccessToken| !self.is_ending(token);
        let renew = || self.renew(&slot, key, fresh);
        slot.token.get_or_renew(fresh, usable, renew).await
    }

    /// A new token, which takes the place of the one that is remembered. When there is none for good, the old one is
    /// forgotten: it was refused, or nobody would read it today.
    async fn renew(&self, slot: &Slot, key: &str, fresh: bool) -> Result<AccessToken, Failure> {
        let read = self.read(slot, key, fresh).await;
        match &read {
            Ok(token) => {
                let keep = self
                    .remaining(token)
                    .map_or(self.keep, |left| self.keep.min(left.saturating_sub(LEAST_LIFE)));
                slot.token.set(token.clone(), keep);
            }
            Err(failure) if !failure.is_retryable() => slot.token.clear(),
            // The services may be there again in a moment.
            Err(_) => {}
        }
        read
    }

    async fn read(&self, slot: &Slot, key: &str, fresh: bool) -> Result<AccessToken, Failure> {
        let description = self.description(slot, key, fresh).await?;
        description.check_active()?;
        let path = description.secret_ref()?;
        let store = self.store.as_ref().map_err(Clone::clone)?;
        let mut token = self.material(store, path, slot, key).await?;
        if self.is_ending(&token) {
            // The store may be about to renew it.
            token = self.material(store, path, slot, key).await?;
        }
        if self.is_ending(&token) {
            return Err(failure::expired(key, Some("token_expired")));
        }
        Ok(token)
    }

    async fn material(
        &self,
        store: &Store,
        path: &str,
        slot: &Slot,
        key: &str,
    ) -> Result<AccessToken, Failure> {
        let refused = match store.read(path).await {
            Ok(token) => return Ok(token),
            Err(Refused::Failed(failure)) => return Err(failure),
            Err(refused) => refused,
        };
        slot.token.clear();
        // The core knows why, if the connection is not what it was.
        self.description(slot, key, true).await?.check_active()?;
        Err(match refused {
            Refused::Login => failure::store(
                "login_refused",
                "the secret store refuses the login of this agent",
            ),
            Refused::Read(400) => failure::expired(key, Some("token_unavailable")),
            _ => failure::access_not_granted(key),
        })
    }

    async fn description(&self, slot: &Slot, key: &str, fresh: bool) -> Result<Arc<Description>, Failure> {
        let look_up = || async {
            let path = format!("/agents/me/connections/{key}");
            let found: Result<Description, Failure> = self.core.json(Ask::get(&path)).await;
            let found = match found {
                Ok(description) if description.key == key => Ok(Arc::new(description)),
                Ok(_) => Err(failure::other_connection(key)),
                Err(failure) if failure.is_not_found() => Err(failure::not_found(key)),
                Err(failure) => Err(failure),
            };
            match &found {
                Ok(description) if description.status == ConnectionStatus::Active => {
                    slot.description.set(Arc::clone(description), self.keep);
                }
                // It may be usable again in a moment.
                Err(failure) if failure.is_retryable() => {}
                _ => {
                    slot.token.clear();
                    slot.description.clear();
                }
            }
            found
        };
        slot.description.get_or_renew(fresh, |_| true, look_up).await
    }

    /// How long a token is still good; `None` when nobody knows.
    fn remaining(&self, token: &AccessToken) -> Option<Duration> {
        let left = token.expires_at()?.duration_since(self.core.clock().wall());
        Some(left.unwrap_or(Duration::ZERO))
    }

    /// Whether a token is too old to be handed out.
    fn is_ending(&self, token: &AccessToken) -> bool {
        self.remaining(token).is_some_and(|left| left <= LEAST_LIFE)
    }

    fn slot(&self, key: &str) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.get(key) {
            return Arc::clone(slot);
        }
        if slots.len() >= MOST_KEYS {
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        let slot = Arc::new(Slot {
            description: Cached::new(self.core.clock()),
            token: Cached::new(self.core.clock()),
        });
        slots.insert(key.to_owned(), Arc::clone(&slot));
        slot
    }
}
