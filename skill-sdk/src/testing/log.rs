//! The log of one call.

use std::fmt;

use super::capture::LogEvent;
use super::shared::Shared;

/// The events of calls, also of failed ones: see [`Invoke::log`](super::Invoke::log).
///
/// Clones share the log.
#[derive(Clone, Default)]
pub struct CallLog(Shared<Vec<LogEvent>>);

impl CallLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// The events so far, the oldest first.
    pub fn events(&self) -> Vec<LogEvent> {
        self.0.lock().clone()
    }

    pub(super) fn extend(&self, events: &[LogEvent]) {
        self.0.lock().extend_from_slice(events);
    }
}

/// One line for each event.
impl fmt::Debug for CallLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = self.events();
        f.debug_list()
            .entries(events.iter().map(ToString::to_string))
            .finish()
    }
}
