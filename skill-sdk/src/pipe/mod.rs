//! One client of a pipe or socket with newline-delimited JSON: one task reads lines, one task per call runs it, and one
//! task writes responses.

mod id;
mod ndjson;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::codec::FramedRead;
use tokio_util::sync::CancellationToken;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

pub(crate) use self::id::{Id, Tagged};
use self::ndjson::NdjsonCodec;
#[cfg(feature = "host")]
pub(crate) use self::ndjson::is_peer_closed;
pub(crate) use self::ndjson::{Line, peer_closed, to_line};
use crate::serve::{InFlight, InFlightGuard, semaphore};

/// The number of lines that wait for a client that reads slowly. Beyond it a response waits; a notification is dropped.
const QUEUED_LINES: usize = 128;

/// How long a client may take to read the last responses after the drain timeout.
const LAST_RESPONSES: Duration = Duration::from_secs(1);

/// Queues lines for a client.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing(Sender<Vec<u8>>);

impl Outgoing {
    /// Creates a queue and its receiver.
    pub(crate) fn channel() -> (Self, Receiver<Vec<u8>>) {
        let (sender, receiver) = mpsc::channel(QUEUED_LINES);
        (Self(sender), receiver)
    }

    /// Queues a line once there is room. Returns `false` if the client disconnected. An empty line ends the queue.
    pub(crate) async fn send(&self, line: Vec<u8>) -> bool {
        self.0.send(line).await.is_ok()
    }

    /// Queues a notification, or drops it if the client reads too slowly.
    pub(crate) fn offer(&self, line: Vec<u8>) {
        drop(self.0.try_send(line));
    }
}

/// How a protocol handles the lines of its client.
pub(crate) trait Protocol: Send + 'static {
    /// Handles a line. Returns its response, unless it has none or a call responds later.
    fn line(&mut self, line: Line) -> impl Future<Output = Option<Vec<u8>>> + Send;
}

/// Why a call of a client ended before its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The client cancelled it.
    Cancelled,
    /// The drain timeout is over, or the client disconnected.
    Cut,
}

/// The calls of one client. Cheap to clone; all clones share their state.
#[derive(Debug, Clone)]
pub(crate) struct Pipe {
    pub(crate) outgoing: Outgoing,
    /// The calls that the client can cancel.
    pub(crate) in_flight: InFlight,
    /// Closed once no more calls are accepted.
    calls: TaskTracker,
    cut: CancellationToken,
    memory: Arc<Semaphore>,
    max_memory: u32,
}

impl Pipe {
    /// Creates the state of a client. No more lines are read while its calls use more than this many bytes.
    fn new(max_memory: usize) -> (Self, Receiver<Vec<u8>>) {
        let (outgoing, queue) = Outgoing::channel();
        let max_memory = u32::try_from(max_memory).unwrap_or(u32::MAX);
        let pipe = Self {
            outgoing,
            in_flight: InFlight::default(),
            calls: TaskTracker::new(),
            cut: CancellationToken::new(),
            memory: Arc::new(semaphore(usize::try_from(max_memory).unwrap_or(usize::MAX))),
            max_memory,
        };
        (pipe, queue)
    }

    /// Registers a call. Graceful shutdown waits until the token is dropped. Returns `None` once no more calls are
    /// accepted.
    pub(crate) fn begin(&self) -> Option<TaskTrackerToken> {
        // Take the token before the check, so that shutdown waits for every call that passes the check.
        let token = self.calls.token();
        (!self.calls.is_closed()).then_some(token)
    }

    /// Waits until a call of this many bytes fits into the memory limit.
    pub(crate) async fn memory(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.max_memory);
        // The semaphore is never closed.
        Arc::clone(&self.memory).acquire_many_owned(bytes).await.ok()
    }

    /// Runs a call to its outcome. If the call is cancelled or the drain timeout expires first, `work` is dropped.
    pub(crate) async fn run<F: Future>(&self, call: InFlightGuard, work: F) -> Result<F::Output, Ended> {
        let outcome = tokio::select! {
            biased;
            outcome = call.unless_cancelled(work) => outcome.ok_or(Ended::Cancelled),
            () = self.cut.cancelled() => Err(Ended::Cut),
        };
        // From now on the client can use the id again.
        drop(call);
        outcome
    }
}

/// The limits of a pipe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PipeLimits {
    /// The drain timeout: how long running calls may take after the input ended or the server was told to stop.
    pub(crate) drain: Duration,
    /// The maximum length of a line in bytes.
    pub(crate) max_line: usize,
    /// The memory limit of the calls of a client in bytes. While it is exceeded, no more lines are read.
    pub(crate) max_memory: usize,
}

/// Serves one client until its input ends or `stop` resolves. Running calls then have the drain timeout to finish, unless
/// the client disconnects: `gone` resolves, or a write fails.
pub(crate) async fn serve_pipe<P: Protocol>(
    protocol: impl FnOnce(Pipe) -> P,
    limits: PipeLimits,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
    gone: impl Future<Output = ()>,
) -> io::Result<()> {
    let (pipe, queue) = Pipe::new(limits.max_memory);
    let Pipe {
        outgoing, calls, cut, ..
    } = pipe.clone();
    // Calls that still run when this function returns are cancelled.
    let _cut = cut.clone().drop_guard();
    let mut writer = AbortOnDropHandle::new(tokio::spawn(ndjson::write_lines(output, queue)));
    // Reading continues during the drain: running calls can be cancelled, and new calls are rejected.
    let reading = read(protocol(pipe), limits.max_line, outgoing.clone(), input);
    let mut reader = AbortOnDropHandle::new(tokio::spawn(reading));
    let mut read = Ok(());
    tokio::select! {
        // The message of the panic may contain input of the client, so it is not logged.
        ended = &mut reader => read = ended.unwrap_or_else(|_| {
            Err(io::Error::other("the task that reads the input ended unexpectedly"))
        }),
        () = stop => {
            tracing::info!(seconds = limits.drain.as_secs(), "stopping: running calls may finish");
        }
        () = outgoing.0.closed() => {
            tracing::info!("the client disconnected; its calls are cancelled");
            return Ok(());
        }
    }
    calls.close();
    let mut finish = async || {
        calls.wait().await;
        // An empty line ends the writer.
        outgoing.send(Vec::new()).await;
        drop((&mut writer).await);
    };
    let drained = async {
        if timeout(limits.drain, finish()).await.is_err() {
            tracing::warn!("the drain timeout has expired; calls that still run are cancelled");
            cut.cancel();
            drop(timeout(LAST_RESPONSES, finish()).await);
        }
    };
    tokio::select! {
        biased;
        () = drained => {}
        () = outgoing.0.closed() => {}
        () = gone => tracing::info!("the client disconnected; its calls are cancelled"),
    }
    read
}

async fn read(
    mut protocol: impl Protocol,
    max_line: usize,
    outgoing: Outgoing,
    input: impl AsyncRead + Unpin,
) -> io::Result<()> {
    let mut lines = FramedRead::with_capacity(input, NdjsonCodec::new(max_line), ndjson::BUFFER);
    while let Some(line) = lines.next().await {
        let line = line?;
        if matches!(&line, Line::Text(text) if text.trim_ascii().is_empty()) {
            continue;
        }
        if let Some(response) = protocol.line(line).await {
            outgoing.send(response).await;
        }
    }
    Ok(())
}
