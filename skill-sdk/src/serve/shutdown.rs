//! Graceful shutdown: from serving over draining to the cut.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Where a server is between its start and its end.
#[derive(Debug, Default)]
pub(crate) struct Shutdown {
    draining: AtomicBool,
    cut: AtomicBool,
    when_cut: Notify,
    /// Requests that are being served, and parts of answers that are not written yet.
    answers: AtomicUsize,
    when_quiet: Notify,
}

#[allow(dead_code, reason = "for the servers that are not on it yet")]
impl Shutdown {
    /// New calls are rejected from now on.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::SeqCst);
    }

    /// Whether new calls are rejected.
    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::SeqCst)
    }

    /// Calls that still run are cut.
    pub(crate) fn cut_calls(&self) {
        self.cut.store(true, Ordering::SeqCst);
        self.when_cut.notify_waiters();
    }

    /// Resolves once running calls are cut.
    pub(crate) async fn cut(&self) {
        // Made before the look at the flag, so that nothing is missed in between.
        let notified = self.when_cut.notified();
        if !self.cut.load(Ordering::SeqCst) {
            notified.await;
        }
    }

    /// A request begins, or a part of an answer is there to be written.
    pub(crate) fn answer_begins(&self) {
        self.answers.fetch_add(1, Ordering::SeqCst);
    }

    /// A request is served, or a part of an answer is written.
    pub(crate) fn answer_ends(&self) {
        if self.answers.fetch_sub(1, Ordering::SeqCst) == 1 && self.is_draining() {
            self.when_quiet.notify_one();
        }
    }

    /// Whether nobody waits for an answer.
    pub(crate) fn is_quiet(&self) -> bool {
        self.answers.load(Ordering::SeqCst) == 0
    }

    /// Resolves once nobody waits for an answer. For one waiter, while draining.
    pub(crate) async fn quiet(&self) {
        while !self.is_quiet() {
            self.when_quiet.notified().await;
        }
    }
}
