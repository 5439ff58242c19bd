//! The time by which caches expire.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
#[cfg(any(test, all(feature = "connections", feature = "testing")))]
use std::time::{Duration, UNIX_EPOCH};

/// The time of day, or a time that a test moves.
#[derive(Clone, Default)]
pub(crate) struct Clock(Option<Arc<Mutex<SystemTime>>>);

/// What a clock of a test starts at: 2026-01-01T00:00:00Z.
#[cfg(any(test, all(feature = "connections", feature = "testing")))]
const START: Duration = Duration::from_hours(490_896);

/// What a clock of a test stops at, the beginning of the year 9000.
#[cfg(any(test, all(feature = "connections", feature = "testing")))]
const END: Duration = Duration::from_hours(2_567_655 * 24);

/// The last time that something ends at in a test, the beginning of the year 9999: later ones could not be written as dates.
#[cfg(any(test, all(feature = "connections", feature = "testing")))]
const LAST: Duration = Duration::from_hours(2_932_531 * 24);

impl Clock {
    /// A clock that stands at 2026-01-01T00:00:00Z until it is moved.
    #[cfg(any(test, all(feature = "connections", feature = "testing")))]
    pub(crate) fn manual() -> Self {
        Self(Some(Arc::new(Mutex::new(UNIX_EPOCH + START))))
    }

    /// The time that much later.
    #[cfg(any(test, all(feature = "connections", feature = "testing")))]
    pub(crate) fn later(&self, by: Duration) -> SystemTime {
        let last = UNIX_EPOCH + LAST;
        self.now().checked_add(by).map_or(last, |time| time.min(last))
    }

    /// Moves a clock of a test forward.
    #[cfg(any(test, all(feature = "connections", feature = "testing")))]
    pub(crate) fn advance(&self, by: Duration) {
        let later = self.later(by).min(UNIX_EPOCH + END);
        if let Some(time) = &self.0 {
            *time.lock().unwrap_or_else(PoisonError::into_inner) = later;
        }
    }

    pub(crate) fn now(&self) -> SystemTime {
        match &self.0 {
            Some(time) => *time.lock().unwrap_or_else(PoisonError::into_inner),
            None => SystemTime::now(),
        }
    }
}
