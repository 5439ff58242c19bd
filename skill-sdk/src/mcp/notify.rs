//! Notifications during a call: progress, and log messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::protocol::{Id, RpcError, notification, text};
use crate::context::{NoticeLevel, ReportSink};
use crate::pipe::Outgoing;

/// The levels of the protocol, least severe first. They begin with those of [`NoticeLevel`](crate::context::NoticeLevel).
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

/// The least severe level of log messages that a client wants, as its place in [`LEVELS`]. All clones are one: a client may
/// change it during a call.
#[derive(Debug, Clone)]
pub(super) struct Threshold(Arc<AtomicUsize>);

impl Default for Threshold {
    /// No log message is sent.
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(LEVELS.len())))
    }
}

impl Threshold {
    /// Sets the level to the one that a request names in its parameter `place`.
    pub(super) fn set(&self, level: Option<&RawValue>, place: &str) -> Result<(), RpcError> {
        let named = level.and_then(text);
        let Some(rank) = named.and_then(|named| LEVELS.iter().position(|level| *level == named)) else {
            let message = format!("`{place}` must be one of {}", LEVELS.join(", "));
            return Err(RpcError::params(message));
        };
        self.0.store(rank, Ordering::Relaxed);
        Ok(())
    }
}

/// Sends the notifications of one call that the client wants.
pub(super) struct Reporter {
    pub(super) skill: &'static str,
    /// The token of progress notifications.
    pub(super) progress: Option<Id>,
    pub(super) log: Option<Threshold>,
    pub(super) outgoing: Outgoing,
    /// The last progress, which never decreases; `None` once nothing more is sent.
    pub(super) last: Mutex<Option<f64>>,
}

impl Reporter {
    fn last(&self) -> MutexGuard<'_, Option<f64>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the notifications of a call when it is dropped, although the skill may still hold the [`Reporter`].
pub(super) struct CloseOnDrop(pub(super) Arc<Reporter>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        *self.0.last() = None;
    }
}

impl ReportSink for Reporter {
    fn progress(&self, done: f64, total: Option<f64>, message: &str) {
        let mut last = self.last();
        let (Some(token), Some(last)) = (&self.progress, &mut *last) else {
            return;
        };
        if !done.is_finite() {
            return;
        }
        *last = last.max(done);
        let mut params = json!({"progressToken": token, "progress": number(*last)});
        if let Some(total) = total.filter(|total| total.is_finite()) {
            params["total"] = number(total);
        }
        if !message.is_empty() {
            params["message"] = message.into();
        }
        // The lock is held, so that notifications keep their order.
        self.outgoing
            .offer(notification("notifications/progress", &params));
    }

    fn notice(&self, level: NoticeLevel, message: &str) {
        let Some(Threshold(threshold)) = &self.log else {
            return;
        };
        let last = self.last();
        if last.is_some() && level as usize >= threshold.load(Ordering::Relaxed) {
            let params = json!({"level": level.name(), "logger": self.skill, "data": message});
            self.outgoing
                .offer(notification("notifications/message", &params));
        }
    }
}

/// A number without a fraction is written as an integer.
fn number(value: f64) -> Value {
    let integer = format!("{value:.0}").parse::<i64>().ok();
    match integer.filter(|_| value.fract() == 0.0 && value.abs() < 1e15) {
        Some(integer) => integer.into(),
        None => value.into(),
    }
}
