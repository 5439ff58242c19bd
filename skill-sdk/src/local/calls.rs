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
use crate::pipeline::CallOutcome;

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

/// The calls that have no answer yet.
#[derive(Default)]
pub(super) struct Calls {
    table: Mutex<Table>,
    /// Told when there is none left, if somebody waits for that.
    none: Notify,
}

#[derive(Default)]
struct Table {
    /// By their ids.
    open: HashMap<Id, Open>,
    /// No more are taken up.
    closed: bool,
    /// Somebody waits until there is none left.
    awaited: bool,
}

/// Why a call is not taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Another one has its id.
    Twice,
    /// The host is stopping.
    Closed,
}

struct Open {
    accepted: Arc<Accepted>,
    context: SkillContext,
    task: Option<AbortHandle>,
}

impl Calls {
    /// Takes up a call.
    pub(super) fn open(&self, accepted: &Arc<Accepted>, context: &SkillContext) -> Result<(), Refused> {
        let mut table = self.table();
        if table.closed {
            return Err(Refused::Closed);
        }
        match table.open.entry(Arc::clone(&accepted.id)) {
            Entry::Occupied(_) => Err(Refused::Twice),
            Entry::Vacant(place) => {
                place.insert(Open {
                    accepted: Arc::clone(accepted),
                    context: context.clone(),
                    task: None,
                });
                Ok(())
            }
        }
    }

    /// Takes up no more calls. Whoever waits for the answers afterwards misses none.
    pub(super) fn close(&self) {
        self.table().closed = true;
    }

    /// Whether a call has this id.
    pub(super) fn holds(&self, id: &str) -> bool {
        self.table().open.contains_key(id)
    }

    /// Notes the task that a call became, or ends it if the call was answered before.
    pub(super) fn became(&self, accepted: &Arc<Accepted>, task: AbortHandle) {
        match self.table().open.get_mut(&accepted.id) {
            Some(open) if Arc::ptr_eq(&open.accepted, accepted) => open.task = Some(task),
            _ => task.abort(),
        }
    }

    /// Whether a call has no answer yet.
    pub(super) fn is_open(&self, accepted: &Arc<Accepted>) -> bool {
        let table = self.table();
        table
            .open
            .get(&accepted.id)
            .is_some_and(|open| Arc::ptr_eq(&open.accepted, accepted))
    }

    /// Answers a call, unless somebody did before. What is added has still to be written.
    pub(super) fn answer(&self, accepted: &Arc<Accepted>, completed: &CallOutcome) {
        let mut table = self.table();
        let Some(open) = table.open.remove(&accepted.id) else {
            return;
        };
        if !Arc::ptr_eq(&open.accepted, accepted) {
            // The id is that of a later call.
            table.open.insert(Arc::clone(&open.accepted.id), open);
            return;
        }
        accepted.answered.store(true, Ordering::Release);
        // Under the lock: who sees that there are no calls left must find their answers.
        accepted
            .output
            .add(|buffer| answer::completed(buffer, &accepted.id, completed));
        self.tell(&mut table);
    }

    /// The calls that are over their time, and whether there are any calls.
    pub(super) fn over_time(&self) -> (Vec<(Arc<Accepted>, SkillContext)>, bool) {
        let table = self.table();
        let over = table
            .open
            .values()
            .filter(|open| open.context.remaining() == Some(Duration::ZERO))
            .map(|open| (Arc::clone(&open.accepted), open.context.clone()))
            .collect();
        (over, !table.open.is_empty())
    }

    /// Stops the call with this id. Says whether there was one.
    pub(super) fn cancel(&self, id: &str) -> bool {
        let mut table = self.table();
        let Some(open) = table.open.remove(id) else {
            return false;
        };
        let error = SkillError::retryable("cancelled", "the caller cancelled the call");
        give_up(&open, Some(&error));
        self.tell(&mut table);
        true
    }

    /// Stops all calls, with an answer or without.
    pub(super) fn give_up_all(&self, error: Option<&SkillError>) {
        let mut table = self.table();
        for (_, open) in table.open.drain() {
            give_up(&open, error);
        }
        self.tell(&mut table);
    }

    /// Resolves when there is none left.
    pub(super) async fn answered(&self) {
        loop {
            let none = self.none.notified();
            {
                let mut table = self.table();
                if table.open.is_empty() {
                    return;
                }
                table.awaited = true;
            }
            none.await;
        }
    }

    fn tell(&self, table: &mut Table) {
        if table.awaited && table.open.is_empty() {
            table.awaited = false;
            self.none.notify_waiters();
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // Nothing of an author's runs under the lock.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::ContextBuilder;

    fn accepted(output: &Arc<Output>) -> Arc<Accepted> {
        Arc::new(Accepted::new("1".into(), Arc::clone(output), None))
    }

    #[tokio::test]
    async fn a_call_is_taken_up_or_refused_and_never_lost() {
        let output = Arc::new(Output::new(Box::new(std::io::sink())));
        let context = SkillContext::new(ContextBuilder::new("a.b@1", "local", Arc::default()));
        let (calls, first) = (Calls::default(), accepted(&output));
        assert_eq!(calls.open(&first, &context), Ok(()));
        assert_eq!(calls.open(&accepted(&output), &context), Err(Refused::Twice));
        calls.close();
        // Whoever sees now that there are no calls would miss this one.
        assert!(calls.cancel("1") && !calls.holds("1"));
        calls.answered().await;
        assert_eq!(calls.open(&accepted(&output), &context), Err(Refused::Closed));
    }
}
