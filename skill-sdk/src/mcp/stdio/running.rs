//! The requests that were accepted and not answered yet.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::error::SkillError;
use crate::mcp::answer;
use crate::mcp::call::Stop;
use crate::mcp::message::Id;
use crate::mcp::params::Era;
use crate::mcp::reporter::Reporter;

/// One of them. Whoever takes it out of the table is the one that answers, or decides that nobody does.
#[derive(Debug)]
pub(super) struct Accepted {
    /// Tells it from others that had or will have the same id.
    pub(super) number: u64,
    pub(super) era: Era,
    /// How to stop it, when it is a call.
    pub(super) stop: Option<Stop>,
    pub(super) reporter: Option<Arc<Reporter>>,
    /// What the host says about itself.
    pub(super) server: Arc<str>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    table: Mutex<Table>,
    changed: Notify,
    /// Nobody listens any more.
    over: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct Table {
    requests: HashMap<Id, Accepted>,
    closed: bool,
}

/// Why a request is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// Another request with the same id is not answered yet.
    Twice,
    /// The host stops.
    Closed,
}

impl InFlight {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request with this id may begin.
    pub(super) fn admits(&self, id: &Id) -> Result<(), Refused> {
        let table = self.table();
        if table.closed {
            Err(Refused::Closed)
        } else if table.requests.contains_key(id) {
            Err(Refused::Twice)
        } else {
            Ok(())
        }
    }

    /// Notes a request; false once the host stops. Only the thread that reads adds requests, after it asked whether it may.
    pub(super) fn insert(&self, id: Id, accepted: Accepted) -> bool {
        let mut table = self.table();
        if !table.closed {
            table.requests.insert(id, accepted);
        }
        !table.closed
    }

    /// Says how a request that was noted is stopped; false when it was given up meanwhile.
    pub(super) fn can_stop(&self, id: &Id, stop: Stop) -> bool {
        let mut table = self.table();
        let accepted = table.requests.get_mut(id);
        accepted.is_some_and(|accepted| {
            accepted.stop = Some(stop);
            true
        })
    }

    /// Answers a request, unless it was cancelled.
    pub(super) fn finish(&self, id: &Id, number: u64, answer: impl FnOnce()) {
        let mut table = self.table();
        let is_it = table
            .requests
            .get(id)
            .is_some_and(|accepted| accepted.number == number);
        if is_it && let Some(accepted) = table.requests.remove(id) {
            if let Some(reporter) = accepted.reporter {
                reporter.close();
            }
            // Under the lock: nobody takes the table for empty before the answer is on its way.
            answer();
        }
        drop(table);
        self.changed.notify_one();
    }

    /// Cancels a request: nothing more is sent for it.
    pub(super) fn cancel(&self, id: &Id) {
        let accepted = self.table().requests.remove(id);
        self.changed.notify_one();
        if let Some(accepted) = accepted {
            accepted.give_up();
        }
    }

    /// Accepts nothing more.
    pub(super) fn close(&self) {
        self.table().closed = true;
    }

    /// Nobody listens any more.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Whether nobody listens any more.
    pub(super) fn over(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.over)
    }

    /// Resolves when all that was accepted is answered.
    pub(super) async fn idle(&self) {
        while !self.table().requests.is_empty() {
            self.changed.notified().await;
        }
    }

    /// Stops all that still runs, and answers it with an error.
    pub(super) fn stop_all(&self, send: impl Fn(Vec<u8>)) {
        let requests = std::mem::take(&mut self.table().requests);
        for (id, accepted) in requests {
            accepted.give_up();
            let error = SkillError::retryable("overloaded", "the host is shutting down");
            send(answer::result(&id, accepted.era, &accepted.server, error.into()));
        }
    }
}

impl Accepted {
    fn give_up(&self) {
        if let Some(reporter) = &self.reporter {
            reporter.close();
        }
        if let Some(stop) = &self.stop {
            stop.now();
        }
    }
}
