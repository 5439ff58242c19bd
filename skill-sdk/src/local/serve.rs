//! Serving one client over a pair of streams, from the first line to the last answer.

use std::future::Future;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::time::{interval, timeout};

use super::LocalServer;
use super::connection::Connection;
use super::shared::Shared;
use crate::error::SkillError;
use crate::pipeline;

/// How long a client may take to read the last answers once the drain time is up.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often a caller is looked for that may be gone without a word.
const LOOK: Duration = Duration::from_millis(100);

/// The fewest threads for asynchronous skills: some of them may keep theirs.
const MIN_WORKERS: usize = 4;

/// Serves one client until its input ends or `stop` resolves, then lets running calls finish within the drain time.
///
/// A client that reads no more ends it at once, and its calls are cancelled. Reading blocks a thread, which is left behind
/// when `stop` comes first, until its read ends.
///
/// ```no_run
/// use skill_sdk::host::stdio;
/// use skill_sdk::local::{LocalServer, serve};
/// use skill_sdk::pipeline::SkillSet;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let protocol = stdio::take()?;
/// let host = LocalServer::new(SkillSet::collect()?);
/// serve(host, protocol.input, protocol.output, std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
pub async fn serve(
    host: LocalServer,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_watched(host, input, output, || false, stop).await
}

/// The same; once the input ended, `gone` says whether the caller is gone, so that nobody will read an answer.
pub(crate) async fn serve_watched(
    host: LocalServer,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    gone: impl Fn() -> bool,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let skills = Skills::start(host.concurrency)?;
    let drain = host.drain;
    let shared = Shared::new(host, skills.handle())?;
    let connection = Connection::new(Arc::clone(&shared), Box::new(input), Box::new(output));
    serve_connection(&connection, drain, gone, stop).await
}

/// Serves one client of several.
pub(super) async fn serve_connection(
    connection: &Arc<Connection>,
    drain: Duration,
    gone: impl Fn() -> bool,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let _closed = CloseOnDrop(connection);
    connection.start()?;
    tokio::select! {
        () = connection.ended() => {}
        () = connection.output.broken() => return Ok(()),
        () = stop => {
            connection.calls.close();
            tracing::info!(seconds = drain.as_secs(), "stopping: running calls may finish");
        }
    }
    let finish = async {
        connection.calls.answered().await;
        connection.output.written().await;
    };
    tokio::select! {
        // A caller that has all its answers may go.
        biased;
        ended = timeout(drain, finish) => if ended.is_err() {
            tracing::warn!("the drain time is up, calls that still run are given up");
            let error = SkillError::retryable("cancelled", "the host stopped before the call ended");
            connection.calls.give_up_all(Some(&error));
            drop(timeout(LAST_WORDS, connection.output.written()).await);
        },
        () = connection.output.broken() => {}
        () = is_gone(gone) => tracing::info!("the caller is gone, its calls are given up"),
    }
    if connection.has_failed() {
        return Err(io::Error::other(
            "the thread that reads the input ended unexpectedly",
        ));
    }
    Ok(())
}

/// Resolves once the caller is gone.
async fn is_gone(gone: impl Fn() -> bool) {
    let mut looks = interval(LOOK);
    while !gone() {
        looks.tick().await;
        tokio::task::yield_now().await;
    }
}

/// Whether whoever read what is written to `output` is gone.
#[cfg(unix)]
pub(crate) fn nobody_reads(output: &impl std::os::fd::AsFd) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let mut fds = [PollFd::new(output, PollFlags::empty())];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // What the system says unasked: an error, or that both ways are closed.
    poll(&mut fds, Some(&now)).is_ok_and(|count| count > 0)
        && fds[0]
            .revents()
            .intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
}

/// Whether whoever read what is written to `output` is gone: a write will tell.
#[cfg(not(unix))]
pub(crate) fn nobody_reads<T>(_: &T) -> bool {
    false
}

struct CloseOnDrop<'a>(&'a Connection);

impl Drop for CloseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The runtime that skills run on: one that is kept by a skill must not keep the host from hearing of signals.
pub(super) struct Skills(Option<Runtime>);

impl Skills {
    /// For so many calls at the same time, each of which may keep a thread of its own.
    pub(super) fn start(calls: usize) -> io::Result<Self> {
        let cores = std::thread::available_parallelism().map_or(MIN_WORKERS, usize::from);
        pipeline::runtime(cores.max(MIN_WORKERS), calls).map(|runtime| Self(Some(runtime)))
    }

    pub(super) fn handle(&self) -> tokio::runtime::Handle {
        match &self.0 {
            Some(runtime) => runtime.handle().clone(),
            // Only `drop` takes it.
            None => tokio::runtime::Handle::current(),
        }
    }
}

impl Drop for Skills {
    fn drop(&mut self) {
        // What still runs was given its time.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
