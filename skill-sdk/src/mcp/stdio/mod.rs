//! One client over standard input and output.
//!
//! Threads read and write, so that neither a client that does not read nor a skill that does not yield stops the other
//! direction; calls run on the runtime.

mod outgoing;
mod running;
mod session;

use std::future::Future;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use self::outgoing::Outgoing;
use self::running::InFlight;
use self::session::Session;
use super::McpServer;
use crate::lines::{Line, Lines};

/// How to serve one client over a pipe.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StdioOptions {
    /// How long calls that were accepted may take to finish once the client closed its end, or the host is told to stop.
    pub drain: Duration,
    /// The longest message that is read, in bytes. A longer one is answered with an error.
    pub message_limit: usize,
}

impl Default for StdioOptions {
    /// 30 seconds, and 4 MiB.
    fn default() -> Self {
        Self {
            drain: Duration::from_secs(30),
            message_limit: 4 * 1024 * 1024,
        }
    }
}

/// Serves the client at the other end of two pipes, until it closes its end or `stop` resolves.
///
/// For the standard input and output of the process take them with [`host::stdio::take`](crate::host::stdio::take), so
/// that nothing that skills print gets between the messages.
///
/// Calls that were accepted are answered, within the drain time; those that are not done then are answered with the
/// retryable code `overloaded`. End the process afterwards: a thread may still wait for input.
///
/// It needs the runtime of tokio, with its clock and more than one thread.
pub async fn serve_stdio(
    host: McpServer,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: StdioOptions,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_watched(host, input, output, options, || false, stop).await
}

/// [`serve_stdio`] for an output that tells by `abandoned` when nobody reads it any more.
pub(crate) async fn serve_watched(
    host: McpServer,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: StdioOptions,
    abandoned: impl Fn() -> bool,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let outgoing = Arc::new(Outgoing::new(output)?);
    let running = Arc::new(InFlight::default());
    let (ended, end) = oneshot::channel();
    let mut session = Session::new(host, Arc::clone(&outgoing), Arc::clone(&running));
    let runtime = Handle::current();
    let (room, over) = (Arc::clone(&outgoing), running.over());
    let limit = options.message_limit;
    std::thread::Builder::new()
        .name("mcp-stdin".into())
        .spawn(move || {
            let _entered = runtime.enter();
            let mut lines = Lines::new(input, limit, Arc::clone(&over));
            loop {
                room.wait_for_room();
                let line = lines.next();
                if over.load(Ordering::Acquire) {
                    break;
                }
                match line {
                    Ok(Line::Text(text)) => session.accept(text, &runtime),
                    Ok(Line::TooLong { id, bytes }) => session.refuse_long(id, bytes, limit),
                    Ok(Line::End) => break,
                    Err(error) => {
                        tracing::warn!(%error, "standard input cannot be read any more");
                        break;
                    }
                }
            }
            // Nobody waits any more when the host was told to stop.
            let _ = ended.send(());
        })?;

    let mut failed = false;
    tokio::select! {
        end = end => {
            failed = end.is_err();
            tracing::debug!("the client closed its end");
        }
        () = outgoing.broken() => tracing::info!("the client does not read any more"),
        () = gone(&abandoned, LOOK_NOW_AND_THEN) => tracing::info!("the client is gone"),
        () = stop => tracing::info!(seconds = options.drain.as_secs(), "stopping: running calls may finish"),
    }
    running.close();
    tokio::select! {
        () = running.idle() => {}
        () = outgoing.broken() => {}
        () = gone(&abandoned, LOOK_OFTEN) => {}
        () = tokio::time::sleep(options.drain) => {
            tracing::warn!("the drain time is up, calls that still run are given up");
        }
    }
    running.stop_all(|unanswered| outgoing.send(unanswered));
    // A client that does not read must not keep the process.
    tokio::select! {
        () = outgoing.finish() => {}
        () = gone(&abandoned, LOOK_OFTEN) => {}
        () = tokio::time::sleep(options.drain.max(LAST_WORDS)) => {
            tracing::warn!("the client did not read all answers");
        }
    }
    running.end();
    outgoing.give_up();
    if failed {
        return Err(io::Error::other(
            "the thread that reads the input ended unexpectedly",
        ));
    }
    Ok(())
}

/// How often it is looked whether the client is gone, as long as it did not close its end.
const LOOK_NOW_AND_THEN: Duration = Duration::from_secs(2);

/// How often once it did.
const LOOK_OFTEN: Duration = Duration::from_millis(50);

/// The least time that a client has to read the last answers.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Resolves when nobody reads any more.
async fn gone(abandoned: &impl Fn() -> bool, each: Duration) {
    while !abandoned() {
        tokio::time::sleep(each).await;
    }
}
