//! One client over a pair of streams of lines: a task reads them, a task runs each call, and a task writes what is sent.

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

use self::ndjson::NdjsonCodec;
#[cfg(feature = "host")]
pub(crate) use self::ndjson::is_peer_closed;
pub(crate) use self::ndjson::{Line, peer_closed, to_line};
use crate::serve::{InFlight, InFlightGuard, semaphore};

/// How many lines wait for a client that reads slowly. A response that does not fit waits; a notification is dropped.
const QUEUED_LINES: usize = 128;

/// How long a client may take to read the last responses after the drain timeout.
const LAST_RESPONSES: Duration = Duration::from_secs(1);

/// The lines to a client.
#[derive(Debug, Clone)]
pub(crate) struct Outgoing(Sender<Vec<u8>>);

impl Outgoing {
    /// A queue and what reads it.
    pub(crate) fn channel() -> (Self, Receiver<Vec<u8>>) {
        let (sender, receiver) = mpsc::channel(QUEUED_LINES);
        (Self(sender), receiver)
    }

    /// Queues a line once there is room; false when the client disconnected. An empty line ends the queue.
    pub(crate) async fn send(&self, line: Vec<u8>) -> bool {
        self.0.send(line).await.is_ok()
    }

    /// Queues a notification, or drops it when the client reads too slowly.
    pub(crate) fn offer(&self, line: Vec<u8>) {
        drop(self.0.try_send(line));
    }
}

/// What a protocol does with the lines of its client.
pub(crate) trait Protocol: Send + 'static {
    /// Takes a line. Gives its response, unless there is none or a call responds later.
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

/// The calls of one client. Cheap to clone; all clones are the same.
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
    /// A client whose calls may take so many bytes of memory before no more lines are read.
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

    /// Announces a call, which the graceful end waits for while the token lives. `None` once no more calls are accepted.
    pub(crate) fn begin(&self) -> Option<TaskTrackerToken> {
        // Before the check, so that the end waits for a call that passes it.
        let token = self.calls.token();
        (!self.calls.is_closed()).then_some(token)
    }

    /// Waits until there is memory for a call of so many bytes, so that a caller cannot fill the memory.
    pub(crate) async fn memory(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(self.max_memory);
        // The semaphore is never closed.
        Arc::clone(&self.memory).acquire_many_owned(bytes).await.ok()
    }

    /// Runs a call until its outcome, or until it is cancelled or cut; then `work` is dropped.
    pub(crate) async fn run<F: Future>(&self, call: InFlightGuard, work: F) -> Result<F::Output, Ended> {
        let outcome = tokio::select! {
            biased;
            outcome = call.unless_cancelled(work) => outcome.ok_or(Ended::Cancelled),
            () = self.cut.cancelled() => Err(Ended::Cut),
        };
        // From now on its id can be used again.
        drop(call);
        outcome
    }
}

/// The limits of a pipe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PipeLimits {
    /// How long running calls may take once the client closed its end, or the server is told to stop.
    pub(crate) drain: Duration,
    /// The longest line that is read, in bytes.
    pub(crate) max_line: usize,
    /// How many bytes of memory calls may take before no more lines are read.
    pub(crate) max_memory: usize,
}

/// Serves one client until its input ends or `stop` resolves. Then its calls may finish within the drain timeout, unless no one
/// reads the responses any more: `gone` resolves, or a write fails.
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
    // Calls that are left when the client is not served any more are cancelled.
    let _cut = cut.clone().drop_guard();
    let mut writer = AbortOnDropHandle::new(tokio::spawn(ndjson::write_lines(output, queue)));
    // It goes on during the drain: running calls can be cancelled, and further ones are rejected.
    let reading = read(protocol(pipe), limits.max_line, outgoing.clone(), input);
    let mut reader = AbortOnDropHandle::new(tokio::spawn(reading));
    let mut read = Ok(());
    tokio::select! {
        // Without the message of a panic, which may hold what the client sent.
        ended = &mut reader => read = ended.unwrap_or_else(|_| {
            Err(io::Error::other("the task that reads the input ended unexpectedly"))
        }),
        () = stop => {
            tracing::info!(seconds = limits.drain.as_secs(), "stopping: running calls may finish");
        }
        () = outgoing.0.closed() => {
            tracing::info!("the client disconnected, its calls are cancelled");
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
            tracing::warn!("the drain timeout is over, calls that still run are cancelled");
            cut.cancel();
            drop(timeout(LAST_RESPONSES, finish()).await);
        }
    };
    tokio::select! {
        biased;
        () = drained => {}
        () = outgoing.0.closed() => {}
        () = gone => tracing::info!("the client disconnected, its calls are cancelled"),
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
