//! Caches, and what a refusal of the store means.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::clock::Clock;
use super::super::core::{Ask, CoreClient, Failure};
use super::super::flight::Flight;
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

/// What is remembered of one connection.
#[derive(Default)]
struct Slot {
    /// The description, and until when it is used. Only one of a connection that can be used is kept.
    description: Mutex<Option<(Arc<Description>, Duration)>>,
    describing: Flight<Result<Arc<Description>, Failure>>,
    /// The token, and until when it is used.
    token: Mutex<Option<(AccessToken, Duration)>>,
    reading: Flight<Result<AccessToken, Failure>>,
}

impl Slot {
    fn forget(&self) {
        *lock(&self.token) = None;
        *lock(&self.description) = None;
    }
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
    pub(super) async fn describe(&self, key: &str) -> Result<Arc<Description>, Failure> {
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
        if !fresh && let Some(token) = self.cached_token(&slot) {
            return Ok(token);
        }
        let read = || async {
            // Somebody else may have been quicker.
            if !fresh && let Some(token) = self.cached_token(&slot) {
                return Ok(token);
            }
            self.renew(&slot, key, fresh).await
        };
        slot.reading.run(fresh, read).await
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
                *lock(&slot.token) = Some((token.clone(), self.clock().now().saturating_add(keep)));
            }
            Err(failure) if !failure.is_retryable() => *lock(&slot.token) = None,
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
        *lock(&slot.token) = None;
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
        if !fresh && let Some(description) = self.cached(&slot.description) {
            return Ok(description);
        }
        let look_up = || async {
            if !fresh && let Some(description) = self.cached(&slot.description) {
                return Ok(description);
            }
            let path = format!("/agents/me/connections/{key}");
            let found: Result<Description, Failure> = self.core.json(Ask::get(&path)).await;
            let found = match found {
                Ok(description) if description.key == key => Ok(Arc::new(description)),
                Ok(_) => Err(failure::other_connection(key)),
                Err(failure) if failure.is_not_found() => Err(failure::not_found(key)),
                Err(failure) => Err(failure),
            };
            let description = match found {
                Ok(description) => description,
                Err(failure) => {
                    if !failure.is_retryable() {
                        slot.forget();
                    }
                    return Err(failure);
                }
            };
            let kept = (description.status == ConnectionStatus::Active).then(|| {
                let until = self.clock().now().saturating_add(self.keep);
                (Arc::clone(&description), until)
            });
            if kept.is_none() {
                *lock(&slot.token) = None;
            }
            *lock(&slot.description) = kept;
            Ok(description)
        };
        slot.describing.run(fresh, look_up).await
    }

    /// How long a token is still good; `None` when nobody knows.
    fn remaining(&self, token: &AccessToken) -> Option<Duration> {
        let left = token.expires_at()?.duration_since(self.clock().wall());
        Some(left.unwrap_or(Duration::ZERO))
    }

    /// Whether a token is too old to be handed out.
    fn is_ending(&self, token: &AccessToken) -> bool {
        self.remaining(token).is_some_and(|left| left <= LEAST_LIFE)
    }

    /// The token that is remembered, if it is still good by both clocks: that of the cache stands still while a machine
    /// sleeps.
    fn cached_token(&self, slot: &Slot) -> Option<AccessToken> {
        self.cached(&slot.token).filter(|token| !self.is_ending(token))
    }

    fn cached<T: Clone>(&self, cache: &Mutex<Option<(T, Duration)>>) -> Option<T> {
        let cache = lock(cache);
        let (value, until) = cache.as_ref()?;
        (self.clock().now() < *until).then(|| value.clone())
    }

    fn slot(&self, key: &str) -> Arc<Slot> {
        let mut slots = lock(&self.slots);
        if let Some(slot) = slots.get(key) {
            return Arc::clone(slot);
        }
        if slots.len() >= MOST_KEYS {
            slots.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        let slot = Arc::new(Slot::default());
        slots.insert(key.to_owned(), Arc::clone(&slot));
        slot
    }

    fn clock(&self) -> &Clock {
        self.core.clock()
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
