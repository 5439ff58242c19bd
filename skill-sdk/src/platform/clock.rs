//! The time by which caches expire.

use std::sync::{Arc, Mutex, PoisonError};
#[cfg(feature = "connections")]
use std::time::SystemTime;
use std::time::{Duration, Instant};

/// The clocks of the system, or one that a test moves.
#[derive(Clone, Default)]
pub(crate) struct Clock(Option<Arc<Mutex<Moved>>>);

/// The two times of a clock of a test: the one that only moves forward, and the time of day.
type Moved = (Duration, Duration);

/// What a clock of a test starts at: 2026-01-01T00:00:00Z.
#[cfg(any(test, all(feature = "connections", feature = "testing")))]
const START: Duration = Duration::from_hours(490_896);

/// What a clock of a test stops at, the beginning of the year 9000: moments after it still have a text of four digits of a year,
/// and no sum with one overflows.
#[cfg(any(test, all(feature = "connections", feature = "testing")))]
const END: Duration = Duration::from_hours(2_567_655 * 24);

#[cfg(any(test, all(feature = "connections", feature = "testing")))]
fn later(time: Duration, by: Duration) -> Duration {
    time.saturating_add(by).min(END)
}

impl Clock {
    /// A clock that stands at 2026-01-01T00:00:00Z until it is moved.
    #[cfg(any(test, all(feature = "connections", feature = "testing")))]
    pub(crate) fn manual() -> Self {
        Self(Some(Arc::new(Mutex::new((START, START)))))
    }

    /// Moves a clock of a test forward.
    #[cfg(any(test, all(feature = "connections", feature = "testing")))]
    pub(crate) fn advance(&self, by: Duration) {
        if let Some(time) = &self.0 {
            let mut time = time.lock().unwrap_or_else(PoisonError::into_inner);
            *time = (later(time.0, by), later(time.1, by));
        }
    }

    /// Moves the time of day of a clock of a test alone, as a machine that sleeps does.
    #[cfg(all(test, feature = "connections"))]
    pub(crate) fn sleep(&self, by: Duration) {
        if let Some(time) = &self.0 {
            let mut time = time.lock().unwrap_or_else(PoisonError::into_inner);
            time.1 = later(time.1, by);
        }
    }

    /// Time that only moves forward, since some moment.
    pub(crate) fn now(&self) -> Duration {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        match self.moved() {
            Some(moved) => moved.0,
            // A second in front, so that nothing is due at zero.
            None => START.get_or_init(Instant::now).elapsed() + Duration::from_secs(1),
        }
    }

    /// The time of day.
    #[cfg(feature = "connections")]
    pub(crate) fn wall(&self) -> SystemTime {
        self.moved()
            .map_or_else(SystemTime::now, |moved| SystemTime::UNIX_EPOCH + moved.1)
    }

    fn moved(&self) -> Option<Moved> {
        let time = self.0.as_ref()?;
        Some(*time.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
