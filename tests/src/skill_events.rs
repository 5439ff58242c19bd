//! Events that a running skill reports to the test that called it.
//!
//! A test waits for an event instead of sleeping. It tells calls apart by their invocation id.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use skill_sdk::SkillContext;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// The time limit for events that should happen at once.
const PATIENCE: Duration = Duration::from_mins(1);

/// An event in a skill.
#[derive(Debug)]
pub enum SkillEvent {
    /// Its body started.
    Started(SkillContext),
    /// Its body was dropped: it returned or was cancelled.
    Dropped,
    /// It reached its last line.
    Ended,
}

static SENDERS: Mutex<BTreeMap<String, UnboundedSender<SkillEvent>>> = Mutex::new(BTreeMap::new());

/// The events of the calls with one invocation id.
#[derive(Debug)]
pub struct SkillEvents(UnboundedReceiver<SkillEvent>);

impl SkillEvents {
    /// Watches the calls with this invocation id from now on.
    pub fn of_call(invocation_id: &str) -> Self {
        let (sender, receiver) = unbounded_channel();
        let mut senders = SENDERS.lock().unwrap_or_else(PoisonError::into_inner);
        senders.insert(invocation_id.to_owned(), sender);
        Self(receiver)
    }

    /// The next event.
    pub async fn next(&mut self) -> SkillEvent {
        let event = timeout(PATIENCE, self.0.recv()).await;
        let event = event.expect("the call reports an event in time");
        event.expect("the sender lives as long as the call is watched")
    }

    /// Waits until the body starts, and returns the context of the call.
    pub async fn started(&mut self) -> SkillContext {
        match self.next().await {
            SkillEvent::Started(context) => context,
            other => unexpected(&other),
        }
    }

    /// Waits until the body is dropped.
    pub async fn dropped(&mut self) {
        match self.next().await {
            SkillEvent::Dropped => {}
            other => unexpected(&other),
        }
    }

    /// Waits until the body reached its last line.
    pub async fn ended(&mut self) {
        match self.next().await {
            SkillEvent::Ended => {}
            other => unexpected(&other),
        }
    }

    /// Whether no event is waiting to be read.
    pub fn has_no_event(&mut self) -> bool {
        self.0.try_recv().is_err()
    }
}

fn unexpected<T>(event: &SkillEvent) -> T {
    #[expect(clippy::panic, reason = "an unexpected event is a failed test")]
    {
        panic!("the skill reported another event than the test waits for: {event:?}")
    }
}

/// Reports an event from within a skill.
pub fn report(context: &SkillContext, event: SkillEvent) {
    let senders = SENDERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sender) = context.invocation_id().and_then(|id| senders.get(id)) {
        // The test may have ended already.
        let _ = sender.send(event);
    }
}

/// Reports [`SkillEvent::Started`] now, and [`SkillEvent::Dropped`] when it is dropped.
#[derive(Debug)]
#[must_use = "it reports the end of the body when it is dropped"]
pub struct Body(SkillContext);

impl Body {
    /// Call this first in the body of the skill.
    pub fn begins(context: &SkillContext) -> Self {
        report(context, SkillEvent::Started(context.clone()));
        Self(context.clone())
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        report(&self.0, SkillEvent::Dropped);
    }
}

/// Blocks the thread of a synchronous skill until its call is cancelled, as an author's loop would.
pub fn block_until_cancelled(context: &SkillContext) {
    while !context.is_cancelled() {
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

static GATES: Mutex<BTreeMap<String, Arc<Semaphore>>> = Mutex::new(BTreeMap::new());

/// A gate that blocks a call until its test opens it.
fn gate(invocation_id: &str) -> Arc<Semaphore> {
    let mut gates = GATES.lock().unwrap_or_else(PoisonError::into_inner);
    let gate = gates
        .entry(invocation_id.to_owned())
        .or_insert_with(|| Arc::new(Semaphore::new(0)));
    Arc::clone(gate)
}

/// Lets one call with this invocation id continue.
pub fn open_gate(invocation_id: &str) {
    gate(invocation_id).add_permits(1);
}

/// Waits until the test opens the gate of this call.
pub async fn wait_at_gate(context: &SkillContext) {
    let gate = gate(context.invocation_id().unwrap_or_default());
    gate.acquire()
        .await
        .expect("the semaphore of a gate is never closed")
        .forget();
}

/// Blocks the thread of a synchronous skill until the test opens its gate, even when the call is cancelled.
pub fn block_at_gate(context: &SkillContext) {
    let gate = gate(context.invocation_id().unwrap_or_default());
    loop {
        if let Ok(permit) = gate.try_acquire() {
            return permit.forget();
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Waits until a counter that another thread increments stops, and returns its value.
pub fn wait_until_stable(count: &AtomicUsize) -> usize {
    let mut before = 0;
    loop {
        thread::park_timeout(Duration::from_millis(300));
        let now = count.load(Ordering::Relaxed);
        if now > 0 && now == before {
            return now;
        }
        before = now;
    }
}
