//! One cached value with an expiry.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::clock::Clock;
use super::single_flight::SingleFlight;

/// A value that is kept for a while, and that one caller at a time renews for all who wait.
pub(crate) struct Cached<T, E> {
    clock: Clock,
    /// The value, and until when it is used.
    value: Mutex<Option<(T, Duration)>>,
    renewing: SingleFlight<Result<T, E>>,
}

impl<T: Clone, E: Clone> Cached<T, E> {
    pub(crate) fn new(clock: &Clock) -> Self {
        Self {
            clock: clock.clone(),
            value: Mutex::default(),
            renewing: SingleFlight::default(),
        }
    }

    /// The value, else what `renew` gives. A failure is shared by all who wait, and not kept. With `fresh` the value is
    /// renewed in any case.
    pub(crate) async fn get_or_renew<F: Future<Output = Result<T, E>>>(
        &self,
        fresh: bool,
        usable: impl Fn(&T) -> bool,
        renew: impl FnOnce() -> F,
    ) -> Result<T, E> {
        let cached = || self.get().filter(|value| !fresh && usable(value));
        if let Some(value) = cached() {
            return Ok(value);
        }
        let work = || async {
            // Another caller may have renewed it meanwhile.
            match cached() {
                Some(value) => Ok(value),
                None => renew().await,
            }
        };
        self.renewing.run(fresh, work).await
    }

    /// Keeps a value for some time.
    pub(crate) fn set(&self, value: T, keep: Duration) {
        let until = self.clock.now().saturating_add(keep);
        *self.value() = Some((value, until));
    }

    #[cfg(feature = "connections")]
    pub(crate) fn clear(&self) {
        *self.value() = None;
    }

    /// Forgets the value if it is this one.
    pub(crate) fn clear_if(&self, is_this: impl FnOnce(&T) -> bool) {
        let mut value = self.value();
        if value.as_ref().is_some_and(|(value, _)| is_this(value)) {
            *value = None;
        }
    }

    fn get(&self) -> Option<T> {
        let value = self.value();
        let (value, until) = value.as_ref()?;
        (self.clock.now() < *until).then(|| value.clone())
    }

    fn value(&self) -> MutexGuard<'_, Option<(T, Duration)>> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
