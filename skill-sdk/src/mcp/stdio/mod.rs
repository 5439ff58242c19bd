//! One client over standard input and output: newline-delimited JSON.
//!
//! A thread reads and a thread writes, because both block. Everything else is one task, which owns the connection.

mod connection;
mod outgoing;

use std::future::Future;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::{Receiver, channel};

use self::connection::Connection;
use self::outgoing::Outgoing;
use super::McpServer;
use crate::lines::{Line, Lines};

/// How to serve one client over a pipe.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct StdioOptions {
    /// How long running calls may take to finish once the client closed its end, or the server is told to stop.
    pub drain: Duration,
    /// The longest message that is read, in bytes. A longer one gets an error as response.
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
/// Calls that were accepted get their response within the drain time; those that are not done then fail with the retryable
/// code `overloaded`. End the process afterwards: a thread may still wait for input.
///
/// It needs the runtime of tokio, with its clock and more than one thread.
pub async fn serve_stdio(
    server: McpServer,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: StdioOptions,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_watched(server, input, output, options, || false, stop).await
}

/// [`serve_stdio`] for an output that knows by `abandoned` when its reader is gone.
pub(crate) async fn serve_watched(
    server: McpServer,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    options: StdioOptions,
    abandoned: impl Fn() -> bool,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let outgoing = Outgoing::start(output)?;
    let over = Arc::new(AtomicBool::new(false));
    let incoming = read(input, options.message_limit, Arc::clone(&over))?;
    let drain = options.drain;
    let connection = Connection::new(server, outgoing.clone(), options);
    let result = connection.serve(incoming, &abandoned, stop).await;
    outgoing.end();
    // A client that does not read must not keep the process.
    tokio::select! {
        () = outgoing.closed() => {}
        () = gone(&abandoned, LOOK_OFTEN) => {}
        () = tokio::time::sleep(drain.max(LAST_WRITE)) => tracing::warn!("the client did not read all responses"),
    }
    over.store(true, Ordering::Release);
    outgoing.give_up();
    result
}

/// What comes from the client.
enum Incoming {
    Line(Vec<u8>),
    TooLong { id: Option<String>, bytes: u64 },
    End,
}

/// Starts the thread that reads. It waits for the connection to take each line.
fn read(
    input: impl Read + Send + 'static,
    limit: usize,
    over: Arc<AtomicBool>,
) -> io::Result<Receiver<Incoming>> {
    let (sender, incoming) = channel(1);
    let run = move || {
        let mut lines = Lines::new(input, limit, over);
        let mut ended = false;
        while !ended {
            let message = match lines.next() {
                Ok(Line::Text(text)) => Incoming::Line(text.to_vec()),
                Ok(Line::TooLong { id, bytes }) => Incoming::TooLong { id, bytes },
                Ok(Line::End) => Incoming::End,
                Err(error) => {
                    tracing::warn!(%error, "standard input cannot be read any more");
                    Incoming::End
                }
            };
            ended = matches!(message, Incoming::End) || sender.is_closed();
            // Without the connection the message has no receiver.
            drop(sender.blocking_send(message));
        }
    };
    std::thread::Builder::new().name("mcp-stdin".into()).spawn(run)?;
    Ok(incoming)
}

/// How often it is checked whether the client is gone: while it may send something, and once it closed its end.
const LOOK_RARELY: Duration = Duration::from_secs(2);
const LOOK_OFTEN: Duration = Duration::from_millis(50);

/// The least time that a client has to read the last responses.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// Resolves when the reader of the output is gone.
async fn gone(abandoned: &impl Fn() -> bool, each: Duration) {
    loop {
        tokio::time::sleep(each).await;
        if abandoned() {
            return;
        }
    }
}
