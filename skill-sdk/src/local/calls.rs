//! The calls of one client that have no answer yet.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use super::answer;
use super::output::Output;
use super::request::Id;
use crate::context::{Notice, NoticeLevel, NoticeSink, Progress, ProgressSink, SkillContext};
use crate::error::SkillError;
use crate::pipeline::Completed;

/// A call that was accepted. It gets one answer, from whoever takes it out of [`Calls`].
pub(super) struct Accepted {
    pub(super) id: Id,
    output: Arc<Output>,
    /// The notices that the caller wants to hear: of this level and above.
    pub(super) notices: Option<NoticeLevel>,
    answered: AtomicBool,
}

impl Accepted {
    pub(super) fn new(id: Id, output: Arc<Output>, notices: Option<NoticeLevel>) -> Self {
        Self {
            id,
            output,
            notices,
            answered: AtomicBool::new(false),
        }
    }
}

impl ProgressSink for Accepted {
    fn progress(&self, progress: Progress) {
        let superseded = || self.answered.load(Ordering::Acquire);
        self.output.add_progress(superseded, |buffer| {
            answer::progress(buffer, &self.id, &progress);
        });
    }
}

impl NoticeSink for Accepted {
    fn notice(&self, notice: Notice) {
        if self.notices.is_some_and(|from| notice.level >= from) {
            let superseded = || self.answered.load(Ordering::Acquire);
            self.output.add_progress(superseded, |buffer| {
                answer::notice(buffer, &self.id, &notice);
            });
        }
    }
}

/// The calls that have no answer yet, by their ids.
#[derive(Default)]
pub(super) struct Calls {
    open: Mutex<HashMap<Id, Open>>,
    /// Told when there is none left.
    none: Notify,
}

struct Open {
    accepted: Arc<Accepted>,
    context: SkillContext,
    task: Option<AbortHandle>,
}

impl Calls {
    /// Takes up a call, unless another one has its id.
    pub(super) fn open(&self, accepted: &Arc<Accepted>, context: &SkillContext) -> bool {
        match self.calls().entry(Arc::clone(&accepted.id)) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(Open {
                    accepted: Arc::clone(accepted),
                    context: context.clone(),
                    task: None,
                });
                true
            }
        }
    }

    /// Notes the task that a call became, or ends it if the call was answered before.
    pub(super) fn became(&self, accepted: &Arc<Accepted>, task: AbortHandle) {
        match self.calls().get_mut(&accepted.id) {
            Some(open) if Arc::ptr_eq(&open.accepted, accepted) => open.task = Some(task),
            _ => task.abort(),
        }
    }

    /// Whether a call has no answer yet.
    pub(super) fn is_open(&self, accepted: &Arc<Accepted>) -> bool {
        let calls = self.calls();
        calls
            .get(&accepted.id)
            .is_some_and(|open| Arc::ptr_eq(&open.accepted, accepted))
    }

    /// Answers a call, unless somebody did before. What is added has still to be written.
    pub(super) fn answer(&self, accepted: &Arc<Accepted>, completed: &Completed) {
        let mut calls = self.calls();
        let Entry::Occupied(open) = calls.entry(Arc::clone(&accepted.id)) else {
            return;
        };
        if !Arc::ptr_eq(&open.get().accepted, accepted) {
            return;
        }
        open.remove();
        accepted.answered.store(true, Ordering::Release);
        // Under the lock: who sees that there are no calls left must find their answers.
        accepted
            .output
            .add(|buffer| answer::completed(buffer, &accepted.id, completed));
        if calls.is_empty() {
            self.none.notify_waiters();
        }
    }

    /// The calls that are over their time, and whether there are any calls.
    pub(super) fn over_time(&self) -> (Vec<(Arc<Accepted>, SkillContext)>, bool) {
        let calls = self.calls();
        let over = calls
            .values()
            .filter(|open| open.context.remaining() == Some(Duration::ZERO))
            .map(|open| (Arc::clone(&open.accepted), open.context.clone()))
            .collect();
        (over, !calls.is_empty())
    }

    /// Stops the call with this id. Says whether there was one.
    pub(super) fn cancel(&self, id: &str) -> bool {
        let mut calls = self.calls();
        let Some(open) = calls.remove(id) else {
            return false;
        };
        let error = SkillError::retryable("cancelled", "the caller cancelled the call");
        give_up(&open, Some(&error));
        if calls.is_empty() {
            self.none.notify_waiters();
        }
        true
    }

    /// Stops all calls, with an answer or without.
    pub(super) fn give_up_all(&self, error: Option<&SkillError>) {
        let mut calls = self.calls();
        for (_, open) in calls.drain() {
            give_up(&open, error);
        }
        self.none.notify_waiters();
    }

    /// Resolves when there is none left.
    pub(super) async fn answered(&self) {
        loop {
            let none = self.none.notified();
            if self.calls().is_empty() {
                return;
            }
            none.await;
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<Id, Open>> {
        // Nothing of an author's runs under the lock.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn give_up(open: &Open, error: Option<&SkillError>) {
    open.accepted.answered.store(true, Ordering::Release);
    if let Some(error) = error {
        open.accepted
            .output
            .add(|buffer| answer::failure(buffer, Some(&open.accepted.id), error));
    }
    open.context.cancel();
    if let Some(task) = &open.task {
        task.abort();
    }
}
