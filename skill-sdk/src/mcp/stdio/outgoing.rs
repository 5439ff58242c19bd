//! Messages to the client. A thread writes them, because writing blocks while the client does not read.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::lines;
use crate::mcp::call;

/// How many bytes may wait before no more requests are read.
pub(super) const MAX_WAITING: usize = 16 * 1024 * 1024;

/// How many bytes may wait before notifications are dropped.
const MAX_WAITING_FOR_NOTIFICATIONS: usize = 1024 * 1024;

/// How many bytes are written at a time.
const CHUNK: usize = 64 * 1024;

/// The queue of messages.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    /// `None` is the end.
    messages: UnboundedSender<Option<Vec<u8>>>,
    waiting: Arc<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: AtomicUsize,
    written: Notify,
    given_up: AtomicBool,
}

impl Outgoing {
    /// Starts the thread.
    pub(super) fn start(output: impl Write + Send + 'static) -> io::Result<Self> {
        let (messages, queue) = unbounded_channel();
        let waiting = Arc::new(Waiting::default());
        let of_thread = Arc::clone(&waiting);
        std::thread::Builder::new()
            .name("mcp-stdout".into())
            .spawn(move || {
                if let Err(error) = write_all(output, queue, &of_thread) {
                    tracing::debug!(%error, "standard output cannot be written");
                }
            })?;
        Ok(Self { messages, waiting })
    }

    /// Queues a message.
    pub(super) fn send(&self, message: Vec<u8>) {
        self.waiting.bytes.fetch_add(message.len(), Ordering::Relaxed);
        // Without the thread there is no client either.
        drop(self.messages.send(Some(message)));
    }

    /// How many bytes wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.bytes.load(Ordering::Relaxed)
    }

    /// Resolves when something was written since the last time.
    pub(super) async fn written(&self) {
        self.waiting.written.notified().await;
    }

    /// Queues the end: [`closed`](Self::closed) resolves behind all messages.
    pub(super) fn end(&self) {
        drop(self.messages.send(None));
    }

    /// Resolves when nothing is written any more.
    pub(super) async fn closed(&self) {
        self.messages.closed().await;
    }

    /// Stops waiting for a client that does not read.
    pub(super) fn give_up(&self) {
        self.waiting.given_up.store(true, Ordering::Release);
    }
}

impl call::Outgoing for Outgoing {
    fn offer(&self, notification: Vec<u8>) {
        if self.waiting() < MAX_WAITING_FOR_NOTIFICATIONS {
            self.send(notification);
        }
    }

    fn ask(&self, question: Vec<u8>) -> bool {
        let has_room = self.waiting() <= MAX_WAITING && !self.messages.is_closed();
        if has_room {
            self.send(question);
        }
        has_room
    }
}

/// Writes messages, several at a time, until the end of the queue.
fn write_all(
    mut output: impl Write,
    mut queue: UnboundedReceiver<Option<Vec<u8>>>,
    waiting: &Waiting,
) -> io::Result<()> {
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut next = queue.blocking_recv().flatten();
    while let Some(message) = next {
        chunk.extend_from_slice(&message);
        chunk.push(b'\n');
        waiting.bytes.fetch_sub(message.len(), Ordering::Relaxed);
        let following = if chunk.len() < CHUNK {
            queue.try_recv().ok()
        } else {
            None
        };
        next = match following {
            Some(message) => message,
            None => {
                lines::write_all(&mut output, &chunk, || waiting.given_up.load(Ordering::Acquire))?;
                chunk.clear();
                chunk.shrink_to(CHUNK);
                waiting.written.notify_one();
                queue.blocking_recv().flatten()
            }
        };
    }
    lines::write_all(&mut output, &chunk, || waiting.given_up.load(Ordering::Acquire))
}
