//! Signs that a running skill gives to the test that called it.
//!
//! A test waits for a sign instead of sleeping, and tells calls apart by their invocation id.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use skill_sdk::SkillContext;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

/// How long a test waits for a sign that should come at once.
const PATIENCE: Duration = Duration::from_mins(1);

/// What happened in a skill.
#[derive(Debug)]
pub enum Sign {
    /// Its body began to run.
    Started(SkillContext),
    /// Its body was dropped, at its end or before.
    Dropped,
    /// It came to its last line.
    Ended,
}

static SENDERS: Mutex<BTreeMap<String, UnboundedSender<Sign>>> = Mutex::new(BTreeMap::new());

/// The signs of calls with one invocation id.
#[derive(Debug)]
pub struct Signs(UnboundedReceiver<Sign>);

impl Signs {
    /// Watches the calls with this invocation id, from now on.
    pub fn of_call(invocation_id: &str) -> Self {
        let (sender, receiver) = unbounded_channel();
        let mut senders = SENDERS.lock().unwrap_or_else(PoisonError::into_inner);
        senders.insert(invocation_id.to_owned(), sender);
        Self(receiver)
    }

    /// The next sign.
    pub async fn next(&mut self) -> Sign {
        let sign = timeout(PATIENCE, self.0.recv()).await;
        let sign = sign.expect("the call gives a sign in time");
        sign.expect("the call gives signs as long as it is watched")
    }

    /// The context of the call, once its body runs.
    pub async fn started(&mut self) -> SkillContext {
        match self.next().await {
            Sign::Started(context) => context,
            other => unexpected(&other),
        }
    }

    /// Waits until the body is dropped.
    pub async fn dropped(&mut self) {
        match self.next().await {
            Sign::Dropped => {}
            other => unexpected(&other),
        }
    }

    /// Waits until the body came to its last line.
    pub async fn ended(&mut self) {
        match self.next().await {
            Sign::Ended => {}
            other => unexpected(&other),
        }
    }

    /// Whether there was no sign since the last one that was taken.
    pub fn is_quiet(&mut self) -> bool {
        self.0.try_recv().is_err()
    }
}

fn unexpected<T>(sign: &Sign) -> T {
    #[expect(clippy::panic, reason = "a sign out of order is a failed test")]
    {
        panic!("the skill gave another sign than the test waits for: {sign:?}")
    }
}

/// Gives a sign from within a skill.
pub fn give(context: &SkillContext, sign: Sign) {
    let senders = SENDERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(sender) = context.invocation_id().and_then(|id| senders.get(id)) {
        // A test that ended does not listen any more.
        let _ = sender.send(sign);
    }
}

/// Gives the sign [`Sign::Started`] now, and [`Sign::Dropped`] when it is dropped.
#[derive(Debug)]
#[must_use = "dropped at once it tells nothing"]
pub struct Body(SkillContext);

impl Body {
    /// The body of the call of `context` begins.
    pub fn begins(context: &SkillContext) -> Self {
        give(context, Sign::Started(context.clone()));
        Self(context.clone())
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        give(&self.0, Sign::Dropped);
    }
}

/// Blocks the thread of a synchronous skill until its call is cancelled, as an author's loop would.
pub fn block_until_cancelled(context: &SkillContext) {
    while !context.is_cancelled() {
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

static GATES: Mutex<BTreeMap<String, Arc<Semaphore>>> = Mutex::new(BTreeMap::new());

/// What a call waits at until its test opens it.
fn gate(invocation_id: &str) -> Arc<Semaphore> {
    let mut gates = GATES.lock().unwrap_or_else(PoisonError::into_inner);
    let gate = gates
        .entry(invocation_id.to_owned())
        .or_insert_with(|| Arc::new(Semaphore::new(0)));
    Arc::clone(gate)
}

/// Lets one call with this invocation id go on.
pub fn open_gate(invocation_id: &str) {
    gate(invocation_id).add_permits(1);
}

/// Waits until the test of the call opens its gate.
pub async fn wait_at_gate(context: &SkillContext) {
    let gate = gate(context.invocation_id().unwrap_or_default());
    gate.acquire().await.expect("gates are never closed").forget();
}

/// Blocks the thread of a synchronous skill until the test of the call opens its gate, whatever the context says.
pub fn block_at_gate(context: &SkillContext) {
    let gate = gate(context.invocation_id().unwrap_or_default());
    loop {
        if let Ok(permit) = gate.try_acquire() {
            return permit.forget();
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

/// Waits until a count that another thread raises grows no more; gives the count.
pub fn where_it_stops(count: &AtomicUsize) -> usize {
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
