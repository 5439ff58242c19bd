//! Notifications during a call: progress, and log messages.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::outgoing::Outgoing;
use super::protocol::{Id, RpcError, notification, text};
use crate::context::{Notice, NoticeSink, Progress, ProgressSink};

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

/// What a client wants to be notified of during a call.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// The token of progress notifications.
    pub(super) progress: Option<Id>,
    pub(super) log: Option<Threshold>,
}

/// Sends the notifications of one call. Progress never decreases.
pub(super) struct Reporter {
    pub(super) wanted: Wanted,
    skill: &'static str,
    state: Mutex<State>,
}

struct State {
    /// `None` once nothing more is sent.
    outgoing: Option<Outgoing>,
    last: f64,
}

impl Reporter {
    pub(super) fn new(skill: &'static str, wanted: Wanted, outgoing: Outgoing) -> Self {
        let state = State {
            outgoing: Some(outgoing),
            last: f64::NEG_INFINITY,
        };
        Self {
            wanted,
            skill,
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the notifications of a call when it is dropped, although the skill may still hold the [`Reporter`].
pub(super) struct CloseOnDrop(pub(super) Arc<Reporter>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.state().outgoing = None;
    }
}

impl ProgressSink for Reporter {
    fn progress(&self, progress: Progress) {
        let mut state = self.state();
        let Some(token) = self
            .wanted
            .progress
            .as_ref()
            .filter(|_| progress.done.is_finite())
        else {
            return;
        };
        state.last = state.last.max(progress.done);
        let mut params = json!({"progressToken": token, "progress": number(state.last)});
        if let Some(total) = progress.total.filter(|total| total.is_finite()) {
            params["total"] = number(total);
        }
        if !progress.message.is_empty() {
            params["message"] = progress.message.into();
        }
        // The lock is held, so that notifications keep their order.
        if let Some(outgoing) = &state.outgoing {
            outgoing.offer(notification("notifications/progress", &params));
        }
    }
}

impl NoticeSink for Reporter {
    fn notice(&self, notice: Notice) {
        let Some(Threshold(threshold)) = &self.wanted.log else {
            return;
        };
        if notice.level as usize >= threshold.load(Ordering::Relaxed)
            && let Some(outgoing) = &self.state().outgoing
        {
            let params = json!({"level": notice.level.name(), "logger": self.skill, "data": notice.message});
            outgoing.offer(notification("notifications/message", &params));
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
