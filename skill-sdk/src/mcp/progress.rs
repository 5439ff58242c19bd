//! Telling the caller how far a call is.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::answer;
use crate::context::{Progress, ProgressSink};

/// Sends the progress of one call: never backwards, and nothing once the call is over.
pub(super) struct Reporter {
    /// The token of the caller, as JSON text.
    token: String,
    state: Mutex<State>,
    send: Box<dyn Fn(Vec<u8>) + Send + Sync>,
}

struct State {
    open: bool,
    last: f64,
}

impl Reporter {
    /// Reports under `token`. `send` must not block; it may drop a report that there is no room for.
    pub(super) fn new(token: &str, send: impl Fn(Vec<u8>) + Send + Sync + 'static) -> Self {
        Self {
            token: token.to_owned(),
            state: Mutex::new(State {
                open: true,
                last: f64::NEG_INFINITY,
            }),
            send: Box::new(send),
        }
    }

    /// Nothing is sent from here on.
    pub(super) fn close(&self) {
        self.state().open = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProgressSink for Reporter {
    fn progress(&self, mut progress: Progress) {
        if !progress.done.is_finite() {
            return;
        }
        let mut state = self.state();
        if !state.open {
            return;
        }
        state.last = state.last.max(progress.done);
        progress.done = state.last;
        // Under the lock: reports keep their order, and `close` waits for the one that is being sent.
        (self.send)(answer::progress(&self.token, &progress));
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter").finish_non_exhaustive()
    }
}
