//! What time it is, so that tests can decide it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The clocks of a [`Verifier`](super::Verifier).
pub trait Clock: Send + Sync + 'static {
    /// Whole seconds since 1970 in UTC: what the claims of tokens are compared with.
    fn unix_seconds(&self) -> i64;

    /// The time since some moment that stays the same, never going back: what the age of keys is measured with.
    fn monotonic(&self) -> Duration;
}

/// The clocks of the system.
#[derive(Debug, Clone)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn unix_seconds(&self) -> i64 {
        // A clock before 1970 makes every token one of the future.
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    }

    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }
}
