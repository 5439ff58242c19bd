//! Telling the caller how far a call is, and what its skill has to say meanwhile.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::answer;
use super::threshold::Threshold;
use crate::context::{Notice, NoticeSink, Progress, ProgressSink};

/// Sends the reports of one call: progress never goes backwards, and nothing is sent once the call is over.
pub(super) struct Reporter {
    /// The token under which the caller wants to hear of progress, as JSON text.
    token: Option<String>,
    /// The notices that the caller wants to hear, when it wants any.
    notices: Option<Threshold>,
    /// The name of the skill.
    skill: &'static str,
    state: Mutex<State>,
    send: Box<dyn Fn(Vec<u8>) + Send + Sync>,
}

struct State {
    open: bool,
    last: f64,
}

impl Reporter {
    /// Reports of `skill` to a caller that gave a token, or wants notices. `send` must not block; it may drop a report that
    /// there is no room for.
    pub(super) fn new(
        skill: &'static str,
        token: Option<&str>,
        notices: Option<Threshold>,
        send: impl Fn(Vec<u8>) + Send + Sync + 'static,
    ) -> Self {
        Self {
            token: token.map(str::to_owned),
            notices,
            skill,
            state: Mutex::new(State {
                open: true,
                last: f64::NEG_INFINITY,
            }),
            send: Box::new(send),
        }
    }

    /// Whether the caller wants to hear of progress.
    pub(super) fn tells_progress(&self) -> bool {
        self.token.is_some()
    }

    /// Whether the caller may want to hear notices.
    pub(super) fn tells_notices(&self) -> bool {
        self.notices.is_some()
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
        let Some(token) = &self.token else { return };
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
        (self.send)(answer::progress(token, &progress));
    }
}

impl NoticeSink for Reporter {
    fn notice(&self, notice: Notice) {
        let wanted = self
            .notices
            .as_ref()
            .is_some_and(|threshold| threshold.lets(notice.level));
        if !wanted {
            return;
        }
        let state = self.state();
        if state.open {
            (self.send)(answer::notice(self.skill, &notice));
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter").finish_non_exhaustive()
    }
}
