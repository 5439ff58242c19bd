//! The log of one call.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::capture::LogEvent;

/// The events of the calls that were given it, also of those that failed: see [`Invoke::log`](super::Invoke::log).
///
/// Clones are the same log.
#[derive(Clone, Default)]
pub struct CallLog(Arc<Mutex<Vec<LogEvent>>>);

impl CallLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// The events so far, the oldest first.
    pub fn events(&self) -> Vec<LogEvent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn extend(&self, events: &[LogEvent]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend_from_slice(events);
    }
}

/// One event a line.
impl fmt::Debug for CallLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = self.events();
        f.debug_list()
            .entries(events.iter().map(ToString::to_string))
            .finish()
    }
}
