//! A rate limit for log lines about rejected requests.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many lines are logged in a second.
const LINES: u32 = 10;

/// Lets 10 lines a second into the log, and counts the others.
#[derive(Debug, Default)]
pub(crate) struct LogLimit(Mutex<Second>);

#[derive(Debug, Default)]
struct Second {
    began: Option<Instant>,
    lines: u32,
}

impl LogLimit {
    /// Whether a line may be logged now. The first one after others were left out is preceded by their number.
    pub(crate) fn allows(&self, now: Instant) -> bool {
        let mut second = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |began| now.duration_since(began) >= Duration::from_secs(1);
        if second.began.is_none_or(is_over) {
            if second.lines > LINES {
                let omitted = second.lines - LINES;
                tracing::warn!(
                    omitted,
                    "more than {LINES} requests were rejected in a second; the others are not in the log"
                );
            }
            (second.began, second.lines) = (Some(now), 0);
        }
        second.lines = second.lines.saturating_add(1);
        second.lines <= LINES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_lines_a_second_are_logged() {
        let limit = LogLimit::default();
        let began = Instant::now();
        for second in 0..3 {
            let now = began + Duration::from_secs(second);
            assert_eq!((0..100).filter(|_| limit.allows(now)).count(), 10, "{second}");
        }
    }
}
