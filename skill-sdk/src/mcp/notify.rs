//! Notifications during a call: progress, and log messages.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::protocol::{RpcError, notification, text};
use crate::context::{Notice, NoticeLevel, NoticeSink, Progress, ProgressSink};

/// The levels of the protocol, least severe first.
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

/// The least severe level of log messages that a client wants. All clones are one: a client may change it during a call.
#[derive(Debug, Clone)]
pub(super) struct Threshold(Arc<AtomicU8>);

impl Default for Threshold {
    /// No log message is sent.
    fn default() -> Self {
        Self(Arc::new(AtomicU8::new(u8::MAX)))
    }
}

impl Threshold {
    /// Sets the level to the one that a request names in its parameter `place`.
    pub(super) fn set(&self, level: Option<&RawValue>, place: &str) -> Result<(), RpcError> {
        let named = level.and_then(text);
        let Some(rank) = named.as_deref().and_then(rank) else {
            let given: String = level.map_or("missing", RawValue::get).chars().take(40).collect();
            let message = format!("`{place}` must be one of {}; it is {given}", LEVELS.join(", "));
            return Err(RpcError::params(message));
        };
        self.0.store(rank, Ordering::Relaxed);
        Ok(())
    }

    fn allows(&self, level: NoticeLevel) -> bool {
        rank(level.name()).is_some_and(|rank| self.0.load(Ordering::Relaxed) <= rank)
    }
}

fn rank(level: &str) -> Option<u8> {
    (0..)
        .zip(LEVELS)
        .find(|(_, known)| *known == level)
        .map(|(rank, _)| rank)
}

/// What a client wants to be notified of during a call.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// The token of progress notifications.
    pub(super) progress: Option<Box<RawValue>>,
    pub(super) log: Option<Threshold>,
}

impl Wanted {
    pub(super) fn any(&self) -> bool {
        self.progress.is_some() || self.log.is_some()
    }
}

/// Sends the notifications of one call. Progress never decreases, and nothing is sent after [`Reporter::close`].
pub(super) struct Reporter {
    wanted: Wanted,
    skill: &'static str,
    state: Mutex<State>,
    send: Box<dyn Fn(Vec<u8>) + Send + Sync>,
}

struct State {
    open: bool,
    last: f64,
}

impl Reporter {
    /// `send` must not block; it may drop a notification for a client that is slow to read.
    pub(super) fn new(
        skill: &'static str,
        wanted: Wanted,
        send: impl Fn(Vec<u8>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            wanted,
            skill,
            state: Mutex::new(State {
                open: true,
                last: f64::NEG_INFINITY,
            }),
            send: Box::new(send),
        }
    }

    pub(super) fn wants_progress(&self) -> bool {
        self.wanted.progress.is_some()
    }

    pub(super) fn wants_log(&self) -> bool {
        self.wanted.log.is_some()
    }

    /// Nothing is sent from here on.
    pub(super) fn close(&self) {
        self.state().open = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProgressParams<'a> {
    progress_token: &'a RawValue,
    progress: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<Value>,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
}

#[derive(Serialize)]
struct LogParams<'a> {
    level: &'static str,
    logger: &'static str,
    data: &'a str,
}

impl ProgressSink for Reporter {
    fn progress(&self, progress: Progress) {
        let Some(progress_token) = &self.wanted.progress else {
            return;
        };
        let mut state = self.state();
        if !state.open || !progress.done.is_finite() {
            return;
        }
        state.last = state.last.max(progress.done);
        let params = ProgressParams {
            progress_token,
            progress: number(state.last),
            total: progress.total.filter(|total| total.is_finite()).map(number),
            message: &progress.message,
        };
        // The lock is held: notifications keep their order, and `close` waits for the one that is being sent.
        (self.send)(notification("notifications/progress", &params));
    }
}

impl NoticeSink for Reporter {
    fn notice(&self, notice: Notice) {
        let log = self.wanted.log.as_ref();
        if !log.is_some_and(|threshold| threshold.allows(notice.level)) {
            return;
        }
        let params = LogParams {
            level: notice.level.name(),
            logger: self.skill,
            data: &notice.message,
        };
        let state = self.state();
        if state.open {
            (self.send)(notification("notifications/message", &params));
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

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter")
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}
