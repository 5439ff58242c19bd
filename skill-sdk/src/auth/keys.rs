//! The keys of the issuer, and when they are fetched.
//!
//! Most requests only compare two moments with the clock. One that comes when a look at the document is due starts the
//! fetch and waits for it; the others go on with the keys that there are, and wait only when there are none.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;

use super::cache::TokenCache;
use super::clock::Clock;
use super::jwks::KeySet;
use super::source::{KeySource, KeySourceError};

/// How long a document of keys is taken for the truth.
pub const JWKS_MAX_AGE: Duration = Duration::from_mins(5);

/// How long a document of keys may be used when it cannot be fetched again.
pub const JWKS_MAX_STALE: Duration = Duration::from_hours(1);

/// How long nobody asks for the document after somebody did.
pub const JWKS_MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(10);

/// How long a fetch may take.
pub const KEYS_TIMEOUT: Duration = Duration::from_secs(3);

/// The keys of the issuer.
#[derive(Clone)]
pub(super) struct Keys(Arc<Inner>);

struct Inner {
    source: Box<dyn KeySource>,
    clock: Arc<dyn Clock>,
    tokens: Arc<TokenCache>,
    current: RwLock<Option<Arc<KeySet>>>,
    /// From this moment on a request has to look at the document again.
    look_at: AtomicU64,
    /// Before this moment the keys may be used. Zero: they were never fetched.
    usable_until: AtomicU64,
    flight: Mutex<Flight>,
}

/// Fetches, of which there is one at a time.
#[derive(Default)]
struct Flight {
    last: Option<Duration>,
    running: Option<watch::Receiver<()>>,
}

/// What became of the wish to fetch.
enum Wish {
    /// The fetch has begun.
    Begun(watch::Receiver<()>),
    /// Somebody else's fetch is on its way.
    Running(watch::Receiver<()>),
    /// It is too early.
    TooEarly,
}

impl Keys {
    pub(super) fn new(source: Box<dyn KeySource>, clock: Arc<dyn Clock>, tokens: Arc<TokenCache>) -> Self {
        Self(Arc::new(Inner {
            source,
            clock,
            tokens,
            current: RwLock::default(),
            look_at: AtomicU64::new(0),
            usable_until: AtomicU64::new(0),
            flight: Mutex::default(),
        }))
    }

    /// Whether the keys may be used without a look at the document.
    pub(super) fn are_settled(&self) -> bool {
        let now = nanoseconds(self.0.clock.monotonic());
        now < self.0.look_at.load(Ordering::Acquire) && now < self.0.usable_until.load(Ordering::Acquire)
    }

    /// Whether the keys may be used.
    fn are_usable(&self) -> bool {
        nanoseconds(self.0.clock.monotonic()) < self.0.usable_until.load(Ordering::Acquire)
    }

    /// Whether there ever were keys.
    pub(super) fn were_fetched(&self) -> bool {
        self.0.usable_until.load(Ordering::Acquire) > 0
    }

    /// The keys, if they may be used.
    pub(super) fn current(&self) -> Option<Arc<KeySet>> {
        let current = self.0.current.read().unwrap_or_else(PoisonError::into_inner);
        current.clone().filter(|_| self.are_usable())
    }

    /// Looks at the document when that is due, and says whether there are keys then.
    pub(super) async fn settle(&self) -> bool {
        if self.are_settled() {
            return true;
        }
        match self.wish() {
            Wish::Begun(flight) => landed(flight).await,
            Wish::Running(flight) if !self.are_usable() => landed(flight).await,
            Wish::Running(_) | Wish::TooEarly => {}
        }
        self.are_usable()
    }

    /// Looks for a key that the document did not have.
    pub(super) async fn look_again(&self) {
        match self.wish() {
            Wish::Begun(flight) | Wish::Running(flight) => landed(flight).await,
            Wish::TooEarly => {}
        }
    }

    /// Begins to fetch without waiting, unless it is too early.
    pub(super) fn begin(&self) {
        drop(self.wish());
    }

    fn wish(&self) -> Wish {
        let now = self.0.clock.monotonic();
        let mut flight = self.0.flight();
        if let Some(running) = &flight.running {
            return Wish::Running(running.clone());
        }
        if flight
            .last
            .is_some_and(|last| now < last + JWKS_MIN_REFRESH_INTERVAL)
        {
            return Wish::TooEarly;
        }
        let Ok(runtime) = Handle::try_current() else {
            tracing::error!("keys can be fetched in a tokio runtime only");
            return Wish::TooEarly;
        };
        let (done, running) = watch::channel(());
        flight.last = Some(now);
        flight.running = Some(running.clone());
        // Those who come from now on do not wish for the same again. Keys that are fresh stay so: somebody may ask for a key
        // that does not exist again and again.
        self.0
            .look_at
            .fetch_max(nanoseconds(now + JWKS_MIN_REFRESH_INTERVAL), Ordering::AcqRel);
        drop(flight);
        let landing = Landing {
            inner: Arc::clone(&self.0),
            _done: done,
        };
        // A task of its own: the request that wished for it may go away, the others still wait.
        runtime.spawn(async move {
            let inner = &landing.inner;
            if let Err(error) = inner.fetch(now).await {
                tracing::warn!(%error, "the keys of the issuer could not be fetched");
            }
        });
        Wish::Begun(running)
    }
}

async fn landed(mut flight: watch::Receiver<()>) {
    // Nothing is ever sent: the other end is dropped when the fetch is over.
    drop(flight.changed().await);
}

impl Inner {
    fn flight(&self) -> MutexGuard<'_, Flight> {
        self.flight.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn fetch(&self, began: Duration) -> Result<(), KeySourceError> {
        let document = tokio::time::timeout(KEYS_TIMEOUT, self.source.fetch())
            .await
            .map_err(|_| {
                KeySourceError::new(format!("no answer within {} seconds", KEYS_TIMEOUT.as_secs()))
            })??;
        let before = self
            .current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let keys = Arc::new(KeySet::read(&document, before.as_deref())?);
        tracing::debug!(keys = keys.len(), "the keys of the issuer were fetched");
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&keys));
        self.tokens.keep_only(&keys);
        // The age counts from the question on. Both ends belong to the time before them.
        let end = |age: Duration| nanoseconds(began + age) + 1;
        self.usable_until.store(end(JWKS_MAX_STALE), Ordering::Release);
        self.look_at.store(end(JWKS_MAX_AGE), Ordering::Release);
        Ok(())
    }
}

/// Ends a fetch, whatever became of it: those who wait go on.
struct Landing {
    inner: Arc<Inner>,
    _done: watch::Sender<()>,
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.inner.flight().running = None;
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX - 1)
}
