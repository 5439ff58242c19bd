//! The time that decides when caches expire.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
#[cfg(any(test, all(feature = "connections", feature = "testing")))]
use std::time::{Duration, UNIX_EPOCH};

/// The system time, or a time that a test advances.
#[derive(Clone, Default)]
pub(crate) struct Clock(Option<Arc<Mutex<SystemTime>>>);

impl Clock {
    /// A clock that shows 2026-01-01T00:00:00Z until a test advances it.
    #[cfg(any(test, all(feature = "connections", feature = "testing")))]
    pub(crate) fn manual() -> Self {
        let start = UNIX_EPOCH + Duration::from_hours(490_896);
        Self(Some(Arc::new(Mutex::new(start))))
    }

    /// Advances the clock of a test.
    #[cfg(any(test, all(feature = "connections", feature = "testing")))]
    pub(crate) fn advance(&self, by: Duration) {
        if let Some(time) = &self.0 {
            *time.lock().unwrap_or_else(PoisonError::into_inner) += by;
        }
    }

    pub(crate) fn now(&self) -> SystemTime {
        match &self.0 {
            Some(time) => *time.lock().unwrap_or_else(PoisonError::into_inner),
            None => SystemTime::now(),
        }
    }
}
