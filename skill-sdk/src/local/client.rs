//! One client: a task reads its lines, a task runs each call, and a task writes the responses.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, timeout};
use tokio_util::codec::FramedRead;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::Shared;
use super::message::{self, CallRequest, Id, Request};
use crate::context::{Notice, NoticeLevel, NoticeSink, Progress, ProgressSink};
use crate::error::SkillError;
use crate::ndjson::{self, Line, NdjsonCodec, write_lines};
use crate::pipeline::{Call, Meta, Runnable};

/// How many lines wait for a client that reads slowly. A call whose response does not fit keeps its slot; progress and log
/// messages that do not fit are dropped.
const QUEUED_LINES: usize = 128;

/// How long a client may take to read the last responses after the drain timeout.
const LAST_RESPONSES: Duration = Duration::from_secs(1);

/// Serves one client until its input ends or `stop` resolves. Then its calls may finish within the drain timeout, unless no one
/// reads the responses any more: `gone` resolves, or a write fails.
pub(super) async fn serve_client(
    shared: Arc<Shared>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
    gone: impl Future<Output = ()>,
) -> io::Result<()> {
    let drain = shared.server.drain;
    let (responses, queue) = mpsc::channel(QUEUED_LINES);
    let client = Arc::new(Client {
        shared,
        calls: Mutex::default(),
        running: TaskTracker::new(),
        responses,
    });
    let _cancel = CancelOnDrop(&client);
    let mut reader = AbortOnDropHandle::new(tokio::spawn(read(Arc::clone(&client), input)));
    let mut writer = AbortOnDropHandle::new(tokio::spawn(write_lines(output, queue)));
    let mut read = Ok(());
    tokio::select! {
        ended = &mut reader => read = ended.map_err(io::Error::other).flatten(),
        () = stop => {
            tracing::info!(seconds = drain.as_secs(), "stopping: running calls may finish");
        }
        () = client.responses.closed() => {
            tracing::info!("the client disconnected, its calls are cancelled");
            return Ok(());
        }
    }
    client.stop_accepting();
    let finish = async {
        client.running.wait().await;
        client.end_of_responses().await;
        drop((&mut writer).await);
    };
    tokio::select! {
        biased;
        finished = timeout(drain, finish) => if finished.is_err() {
            tracing::warn!("the drain timeout is over, calls that still run are cancelled");
            let last = async {
                client.cancel_all().await;
                client.end_of_responses().await;
                drop((&mut writer).await);
            };
            drop(timeout(LAST_RESPONSES, last).await);
        },
        () = client.responses.closed() => {}
        () = gone => tracing::info!("the client disconnected, its calls are cancelled"),
    }
    read
}

struct Client {
    shared: Arc<Shared>,
    calls: Mutex<Calls>,
    running: TaskTracker,
    responses: mpsc::Sender<Vec<u8>>,
}

#[derive(Default)]
struct Calls {
    /// A call gets its one response from whoever removes it from this table.
    in_flight: HashMap<Id, InFlight>,
    /// How many calls there were so far.
    count: u64,
    /// New calls are rejected.
    stopping: bool,
}

struct InFlight {
    number: u64,
    /// Dropping it cancels the call.
    task: AbortOnDropHandle<()>,
}

/// Calls that are left when a client is not served any more are cancelled without a response.
struct CancelOnDrop<'a>(&'a Client);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop_accepting();
        self.0.calls().in_flight.clear();
    }
}

async fn read(client: Arc<Client>, input: impl AsyncRead + Unpin) -> io::Result<()> {
    let limit = client.shared.server.line_limit;
    let mut lines = FramedRead::with_capacity(input, NdjsonCodec::new(limit), ndjson::BUFFER);
    while let Some(line) = lines.next().await {
        match line? {
            Line::Text(line) if line.trim_ascii().is_empty() => {}
            Line::Text(line) => client.handle(&line).await,
            Line::TooLong(_) => {
                let message = format!("the line is longer than {limit} bytes (--line-limit)");
                client
                    .reject(None, SkillError::terminal("bad_request", message))
                    .await;
            }
            Line::NotUtf8 => {
                let error = SkillError::terminal("bad_request", "the line is not UTF-8");
                client.reject(None, error).await;
            }
        }
    }
    Ok(())
}

impl Client {
    async fn handle(self: &Arc<Self>, line: &str) {
        match Request::parse(line) {
            Ok(Request::Call(request)) => {
                if let Err((id, error)) = self.accept(request).await {
                    self.reject(id, error).await;
                }
            }
            Ok(Request::Cancel(id)) => {
                if self.calls().in_flight.remove(&id).is_some() {
                    self.send(message::failure(
                        Some(&id),
                        &cancelled("the caller cancelled the call"),
                    ))
                    .await;
                }
            }
            Ok(Request::List(Some(id))) if self.is_in_flight(&id) => {
                self.reject(None, id_in_use(&id)).await;
            }
            Ok(Request::List(id)) => {
                self.send(message::list(id.as_ref(), &self.shared.server.skills))
                    .await;
            }
            Err(error) => {
                let message::ParseError { id, message } = error;
                self.reject(id, SkillError::terminal("bad_request", message))
                    .await;
            }
        }
    }

    /// Starts a call, or tells why not.
    async fn accept(self: &Arc<Self>, request: CallRequest<'_>) -> Result<(), (Option<Id>, SkillError)> {
        let CallRequest {
            id,
            skill,
            inputs,
            mut meta,
            notices,
        } = request;
        let Some(runnable) = self.shared.server.skills.get(&skill) else {
            let error = SkillError::terminal("skill_not_hosted", format!("{skill} is not hosted here"));
            return Err((Some(id), error));
        };
        let room = self.shared.slots.room(inputs.len()).await;
        let mut calls = self.calls();
        if calls.stopping {
            let error = SkillError::retryable("overloaded", "the server is shutting down");
            return Err((Some(id), error));
        }
        calls.count += 1;
        let number = calls.count;
        let Entry::Vacant(entry) = calls.in_flight.entry(id.clone()) else {
            return Err((None, id_in_use(&id)));
        };
        let reporter = Arc::new(Reporter {
            client: Arc::clone(self),
            id: id.clone(),
            number,
            level: notices,
        });
        meta.environment = self.shared.server.environment.clone();
        if notices.is_some() {
            meta.notices = Some(Arc::<Reporter>::clone(&reporter));
        }
        meta.progress = Some(reporter);
        let call = Arc::clone(self).run(Arc::clone(runnable), id, number, room, inputs.into(), meta);
        entry.insert(InFlight {
            number,
            task: AbortOnDropHandle::new(self.running.spawn(call)),
        });
        Ok(())
    }

    /// Runs a call and sends its response. It keeps its slot until the response is queued.
    async fn run(
        self: Arc<Self>,
        runnable: Arc<Runnable>,
        id: Id,
        number: u64,
        room: Option<OwnedSemaphorePermit>,
        inputs: Vec<u8>,
        mut meta: Meta,
    ) {
        let slot = match self.slot(&runnable, &mut meta).await {
            Ok(slot) => slot,
            Err(error) => {
                if self.finish(&id, number) {
                    self.send(message::failure(Some(&id), &error)).await;
                }
                return;
            }
        };
        drop(room);
        let outcome = self
            .shared
            .server
            .skills
            .call(&runnable, Call::json(inputs, meta))
            .await;
        if self.finish(&id, number) {
            self.send(message::response(&id, &outcome)).await;
        }
        drop(slot);
    }

    /// Waits for the slot of a call. The time that it waits counts as time of the call.
    async fn slot(
        &self,
        runnable: &Runnable,
        meta: &mut Meta,
    ) -> Result<Option<OwnedSemaphorePermit>, SkillError> {
        let slots = &self.shared.slots;
        if let Some(slot) = slots.free() {
            return Ok(Some(slot));
        }
        let seconds = runnable.described().contract().timeout_seconds;
        let limit = meta.timeout.unwrap_or(Duration::from_secs(seconds.into()));
        let began = Instant::now();
        let slot = timeout(limit, slots.next()).await.map_err(|_| {
            let seconds = limit.as_secs_f64();
            let message = format!("the call waited {seconds} s for a concurrency slot (--concurrency)");
            SkillError::retryable("timeout", message)
        })?;
        meta.timeout = Some(limit.saturating_sub(began.elapsed()));
        Ok(slot)
    }

    /// Removes a call that ended. Returns false when it got its response before, since it was cancelled.
    fn finish(&self, id: &Id, number: u64) -> bool {
        let mut calls = self.calls();
        if calls.in_flight.get(id).is_some_and(|call| call.number == number) {
            // Its task must not be aborted: it sends the response.
            return calls
                .in_flight
                .remove(id)
                .map(|call| call.task.detach())
                .is_some();
        }
        false
    }

    fn is_in_flight(&self, id: &Id) -> bool {
        self.calls().in_flight.contains_key(id)
    }

    /// Rejects a line. The id of a running call is left out: the client would take the error for the response of that call.
    async fn reject(&self, id: Option<Id>, error: SkillError) {
        let id = id.filter(|id| !self.is_in_flight(id));
        self.send(message::failure(id.as_ref(), &error)).await;
    }

    fn stop_accepting(&self) {
        self.calls().stopping = true;
        self.running.close();
    }

    /// Cancels all calls, with a response.
    async fn cancel_all(&self) {
        let calls = std::mem::take(&mut self.calls().in_flight);
        let error = cancelled("the server stopped before the call ended");
        for (id, call) in calls {
            drop(call);
            self.send(message::failure(Some(&id), &error)).await;
        }
    }

    async fn end_of_responses(&self) {
        // It fails when the writer ended before.
        drop(self.responses.send(Vec::new()).await);
    }

    async fn send(&self, line: serde_json::Result<Vec<u8>>) {
        match line {
            // It fails when the client disconnected, which `serve_client` notices.
            Ok(line) => drop(self.responses.send(line).await),
            Err(error) => tracing::error!(%error, "a response cannot be serialized"),
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cancelled(message: &str) -> SkillError {
    SkillError::retryable("cancelled", message)
}

fn id_in_use(id: &Id) -> SkillError {
    let id = match id {
        Id::Number(number) => number.to_string(),
        Id::String(text) => format!("{text:?}"),
    };
    SkillError::terminal(
        "bad_request",
        format!("a call with the id {id} is running already"),
    )
}

/// Sends the progress and the log messages of a call.
struct Reporter {
    client: Arc<Client>,
    id: Id,
    number: u64,
    level: Option<NoticeLevel>,
}

impl Reporter {
    /// Queues a line, unless the call got its response or the client reads too slowly.
    fn report(&self, line: serde_json::Result<Vec<u8>>) {
        let calls = self.client.calls();
        let in_flight = calls.in_flight.get(&self.id);
        if let Ok(line) = line
            && in_flight.is_some_and(|call| call.number == self.number)
        {
            // Under the lock, so that the response comes behind it.
            let _ = self.client.responses.try_send(line);
        }
    }
}

impl ProgressSink for Reporter {
    fn progress(&self, progress: Progress) {
        self.report(message::progress(&self.id, &progress));
    }
}

impl NoticeSink for Reporter {
    fn notice(&self, notice: Notice) {
        if self.level.is_some_and(|level| notice.level >= level) {
            self.report(message::notice(&self.id, &notice));
        }
    }
}
