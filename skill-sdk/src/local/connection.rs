//! One client: reads its lines and runs its calls.
//!
//! One thread at a time has the turn to read. It runs quick calls itself, since handing a call over costs more than most
//! calls do. When a call keeps it, or a client that does not read, [`Watch`](super::watch::Watch) gives the turn to
//! another thread. What waits (an asynchronous skill) goes to the runtime, and so does a skill that is known to be slow.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Instant;

use tokio::sync::Notify;

use super::answer;
use super::calls::{Accepted, Calls, Refused};
use super::hosted::{Hosted, Running};
use super::output::Output;
use super::request::{self, CallRequest, MetaFields, Request};
use super::shared::Shared;
use super::watch::Slot;
use crate::error::SkillError;
use crate::lines::{Line, Lines};
use crate::pipeline::{Call, Meta, Opened, Place};

/// The lines of a client.
type Input = Lines<Box<dyn Read + Send>>;

/// What a thread does.
type Work = Box<dyn FnOnce() + Send>;

/// Starts a thread with a name.
type Spawn = Box<dyn Fn(&str, Work) -> io::Result<()> + Send + Sync>;

/// One client.
pub(super) struct Connection {
    pub(super) shared: Arc<Shared>,
    pub(super) calls: Calls,
    pub(super) output: Arc<Output>,
    input: Mutex<Input>,
    spawn: Spawn,
    /// The number of the turn to read.
    turn: AtomicU64,
    /// The last turn for which a thread was started.
    begun: AtomicU64,
    /// There was no thread for a turn before.
    without_thread: AtomicBool,
    /// There is nothing more to read.
    ended: AtomicBool,
    /// Nobody wants to read any more.
    over: Arc<AtomicBool>,
    /// A thread that read is gone without a word.
    failed: AtomicBool,
    /// Told when there is nothing more to read.
    end: Notify,
}

/// A call that was accepted and did not start yet.
struct Ready<'a> {
    hosted: &'a Hosted,
    accepted: Arc<Accepted>,
    opened: Opened,
    running: Running,
}

/// What to do after a line.
enum Next<'a> {
    Call(Ready<'a>),
    Line,
    Stop,
}

impl Connection {
    pub(super) fn new(
        shared: Arc<Shared>,
        input: Box<dyn Read + Send>,
        output: Box<dyn Write + Send>,
    ) -> Arc<Self> {
        let spawn = |name: &str, work: Work| {
            let thread = thread::Builder::new().name(name.to_owned());
            thread.spawn(work).map(drop)
        };
        Self::with_threads(shared, input, output, Box::new(spawn))
    }

    fn with_threads(
        shared: Arc<Shared>,
        input: Box<dyn Read + Send>,
        output: Box<dyn Write + Send>,
        spawn: Spawn,
    ) -> Arc<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let input = Mutex::new(Lines::new(input, shared.line_limit, Arc::clone(&over)));
        Arc::new(Self {
            shared,
            calls: Calls::default(),
            output: Arc::new(Output::new(output)),
            input,
            spawn,
            turn: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            without_thread: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            over,
            failed: AtomicBool::new(false),
            end: Notify::new(),
        })
    }

    /// Starts to write and to read.
    pub(super) fn start(self: &Arc<Self>) -> io::Result<()> {
        let output = Arc::clone(&self.output);
        (self.spawn)("skill-local-out", Box::new(move || output.work()))?;
        self.shared.watch.add(self);
        let connection = Arc::clone(self);
        (self.spawn)("skill-local-in", Box::new(move || connection.read(0)))
    }

    /// Starts another thread, which takes the turn. Without one the turn stays where it is: the thread that is kept reads on
    /// when it can. Only the watch calls this.
    pub(super) fn pass_turn(self: &Arc<Self>, from: u64) {
        let next = from + 1;
        if !self.has_turn(from) || self.begun.swap(next, Ordering::Relaxed) == next {
            return;
        }
        let connection = Arc::clone(self);
        let take = move || {
            let taken = connection
                .turn
                .compare_exchange(from, next, Ordering::AcqRel, Ordering::Acquire);
            if taken.is_ok() {
                connection.read(next);
            }
        };
        if let Err(error) = (self.spawn)("skill-local-in", Box::new(take)) {
            if !self.without_thread.swap(true, Ordering::Relaxed) {
                tracing::warn!(%error, "there is no thread to read on while a call or the client keeps the one that reads");
            }
            self.output.write_later();
            self.begun.store(from, Ordering::Relaxed);
        }
    }

    /// Whether a thread with this turn has it still.
    pub(super) fn has_turn(&self, turn: u64) -> bool {
        self.turn.load(Ordering::Acquire) == turn
    }

    /// Resolves when there is nothing more to read.
    pub(super) async fn ended(&self) {
        loop {
            let end = self.end.notified();
            if self.ended.load(Ordering::Acquire) {
                return;
            }
            end.await;
        }
    }

    /// Whether a thread that read is gone without a word.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Lets go of what is left; calls that run are given up without an answer.
    pub(super) fn close(&self) {
        self.over.store(true, Ordering::Release);
        self.calls.close();
        self.calls.give_up_all(None);
        self.output.close();
    }

    fn read(self: Arc<Self>, turn: u64) {
        let runtime = self.shared.runtime.clone();
        let _entered = runtime.enter();
        let _ends = EndOnPanic(&self);
        let slot = self.shared.watch.slot(&self, turn);
        // The thread before may have been kept with answers that nobody writes.
        self.write(&slot);
        while self.has_turn(turn) {
            let (next, more) = {
                let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
                if self.ended.load(Ordering::Acquire) {
                    return;
                }
                // Whoever took the turn meanwhile may have begun a batch, whose last line writes the answers of all.
                if !self.has_turn(turn) {
                    break;
                }
                let next = self.next(&mut input);
                (next, input.has_line())
            };
            match next {
                Next::Call(ready) => self.run(ready, &slot),
                Next::Line => {}
                Next::Stop => {
                    self.write(&slot);
                    self.end_of_input();
                    return;
                }
            }
            if !more {
                self.write(&slot);
            }
        }
        // Whoever has the turn may wait for a line already.
        self.write(&slot);
    }

    fn end_of_input(&self) {
        self.ended.store(true, Ordering::Release);
        self.end.notify_waiters();
    }

    /// Writes what waits; a client that does not read keeps this thread, and no other.
    fn write(self: &Arc<Self>, slot: &Slot) {
        if self.output.is_waiting() {
            slot.busy(Instant::now());
            self.output.write_now();
            slot.idle();
        }
    }

    fn next<'a>(self: &'a Arc<Self>, input: &mut Input) -> Next<'a> {
        if !self.output.wait_for_room() {
            return Next::Stop;
        }
        match input.next() {
            Ok(Line::Text(line)) => {
                if line.iter().all(u8::is_ascii_whitespace) {
                    return Next::Line;
                }
                match request::read(line) {
                    Ok(Request::Call(call)) => self.accept(call),
                    Ok(Request::Cancel(id)) => {
                        self.calls.cancel(&id);
                        Next::Line
                    }
                    Ok(Request::List(Some(id))) if self.calls.holds(&id) => self.refuse_twice(&id),
                    Ok(Request::List(id)) => {
                        let skills = self.shared.skills();
                        self.output
                            .add(|buffer| answer::list(buffer, id.as_deref(), skills));
                        Next::Line
                    }
                    Err(refused) => {
                        let error = SkillError::terminal("bad_request", refused.message);
                        self.refuse(refused.id.as_deref(), &error)
                    }
                }
            }
            Ok(Line::TooLong { id, bytes }) => {
                tracing::debug!(bytes, "a line is longer than is read");
                let message = format!("the line is longer than {} bytes", self.shared.line_limit);
                let error = SkillError::terminal("payload_too_large", message);
                let id = id.and_then(|id| request::id_of(&id).ok());
                self.refuse(id.as_deref(), &error)
            }
            Ok(Line::End) => Next::Stop,
            Err(error) => {
                tracing::warn!(%error, "the input cannot be read");
                Next::Stop
            }
        }
    }

    /// Refuses a line. With the id of a call that runs it would be taken for the answer of that call.
    fn refuse(&self, id: Option<&str>, error: &SkillError) -> Next<'_> {
        let id = id.filter(|id| !self.calls.holds(id));
        self.output.add(|buffer| answer::failure(buffer, id, error));
        Next::Line
    }

    fn refuse_twice(&self, id: &str) -> Next<'_> {
        let message = format!("a call with the id {id} is running already");
        self.refuse(None, &SkillError::terminal("bad_request", message))
    }

    fn accept<'a>(self: &'a Arc<Self>, request: CallRequest<'_>) -> Next<'a> {
        let CallRequest {
            id,
            skill,
            inputs,
            meta,
        } = request;
        let Some(hosted) = self.shared.table.get(&*skill) else {
            let error = SkillError::terminal("skill_not_hosted", format!("{skill} is not hosted here"));
            return self.refuse(Some(&id), &error);
        };
        let Some(running) = self.shared.load.take() else {
            let error = SkillError::retryable("overloaded", "too many calls are running, try again later");
            return self.refuse(Some(&id), &error);
        };
        let accepted = Arc::new(Accepted::new(id, Arc::clone(&self.output), meta.notices));
        let opened = self.open(hosted, &accepted, inputs, meta);
        match self.calls.open(&accepted, opened.context()) {
            Ok(()) => Next::Call(Ready {
                hosted,
                accepted,
                opened,
                running,
            }),
            Err(Refused::Twice) => self.refuse_twice(&accepted.id),
            Err(Refused::Closed) => {
                let error = SkillError::retryable("overloaded", "the host is shutting down");
                self.refuse(Some(&accepted.id), &error)
            }
        }
    }

    fn open(&self, hosted: &Hosted, accepted: &Arc<Accepted>, inputs: &str, fields: MetaFields) -> Opened {
        let mut meta = Meta::new("local");
        meta.environment = self.shared.environment.clone();
        meta.invocation_id = fields.invocation_id;
        meta.idempotency_key = fields.idempotency_key;
        meta.timeout = fields.timeout;
        meta.settings = fields.settings;
        meta.trace = fields.trace.map(|trace| *trace);
        meta.progress = Some(Arc::<Accepted>::clone(accepted));
        if accepted.notices.is_some() {
            meta.notices = Some(Arc::<Accepted>::clone(accepted));
        }
        let call = Call::json(inputs, meta);
        self.shared.host.open(&hosted.runnable, call)
    }

    fn run(self: &Arc<Self>, ready: Ready<'_>, slot: &Slot) {
        let Ready {
            hosted,
            accepted,
            opened,
            running,
        } = ready;
        let runnable = Arc::clone(&hosted.runnable);
        if !hosted.is_quick() && self.shared.load.has_room() {
            let load = Arc::clone(&self.shared.load);
            let call = async move {
                let place = Place::Runtime(Some(load.abandoned()));
                opened.run(&runnable, place).await
            };
            return self.spawn(call, &accepted, running);
        }
        let mut call = Box::pin(async move { opened.run(&runnable, Place::Here).await });
        let start = Instant::now();
        slot.busy(start);
        let polled = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        slot.idle();
        hosted.note(start.elapsed());
        match polled {
            Poll::Ready(completed) => {
                // Whoever reads the answer finds the place free.
                drop(running);
                self.calls.answer(&accepted, &completed);
            }
            // Its time was up while it kept the thread.
            Poll::Pending if !self.calls.is_open(&accepted) => {}
            Poll::Pending => self.spawn(call, &accepted, running),
        }
    }

    fn spawn(
        self: &Arc<Self>,
        call: impl Future<Output = crate::pipeline::CallOutcome> + Send + 'static,
        accepted: &Arc<Accepted>,
        running: Running,
    ) {
        self.shared.watch.stir();
        let connection = Arc::clone(self);
        let own = Arc::clone(accepted);
        let task = self.shared.runtime.spawn(async move {
            let completed = call.await;
            drop(running);
            connection.calls.answer(&own, &completed);
            connection.output.write_later();
        });
        self.calls.became(accepted, task.abort_handle());
    }
}

/// Tells those who wait for the end of the input when the thread that reads has none.
struct EndOnPanic<'a>(&'a Connection);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.failed.store(true, Ordering::Release);
            self.0.end_of_input();
        }
    }
}

#[cfg(test)]
mod tests;
