//! Messages to the client, written by a thread of their own.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

use crate::lines;

/// How many bytes may wait before nothing more is accepted from the client.
const MAX_WAITING: usize = 16 * 1024 * 1024;

/// How many bytes may wait before reports of progress are left out.
const MAX_WAITING_FOR_PROGRESS: usize = 1024 * 1024;

/// What a request costs beside its bytes while it is being answered, roughly.
const COST: usize = 4 * 1024;

/// How much is written at a time.
const CHUNK: usize = 64 * 1024;

/// The messages that wait to be written.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// `None` is the last.
    messages: Sender<Option<Vec<u8>>>,
    shared: Arc<Shared>,
    written: Mutex<Option<oneshot::Receiver<()>>>,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    room: Condvar,
    broken: AtomicBool,
    breaks: Notify,
}

/// How many bytes wait.
#[derive(Debug, Default)]
struct Waiting {
    /// To be written.
    written: usize,
    /// Of requests that are being answered.
    answered: usize,
}

impl Waiting {
    fn is_too_much(&self) -> bool {
        self.written.saturating_add(self.answered) > MAX_WAITING
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of a request that is being answered, until this is dropped.
#[derive(Debug)]
pub(super) struct Held {
    shared: Arc<Shared>,
    bytes: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shared.waiting().answered -= self.bytes;
        self.shared.room.notify_all();
    }
}

impl Outgoing {
    pub(super) fn new(output: impl Write + Send + 'static) -> io::Result<Self> {
        let (messages, waiting) = channel();
        let shared = Arc::new(Shared::default());
        let (done, written) = oneshot::channel();
        let writer = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("mcp-stdout".into())
            .spawn(move || {
                write_all(output, &waiting, &writer);
                // The host may be gone already.
                let _ = done.send(());
            })?;
        Ok(Self {
            messages,
            shared,
            written: Mutex::new(Some(written)),
        })
    }

    /// Sends a message.
    pub(super) fn send(&self, message: Vec<u8>) {
        self.shared.waiting().written += message.len();
        // Without the thread that writes nobody reads either.
        drop(self.messages.send(Some(message)));
    }

    /// Sends a message unless the client is behind with reading.
    pub(super) fn offer(&self, message: Vec<u8>) {
        if self.shared.waiting().written < MAX_WAITING_FOR_PROGRESS {
            self.send(message);
        }
    }

    /// Sends a question to the client, which may not be left out: false when the client is behind with reading by as much
    /// as may wait.
    pub(super) fn ask(&self, question: Vec<u8>) -> bool {
        let room = self.shared.waiting().written <= MAX_WAITING && !self.is_broken();
        if room {
            self.send(question);
        }
        room
    }

    /// Writes nothing more that the client does not take.
    pub(super) fn give_up(&self) {
        self.shared.broken.store(true, Ordering::Release);
    }

    /// Counts a request of so many bytes, which is kept until it is answered, as something that waits.
    pub(super) fn hold(&self, bytes: usize) -> Held {
        let bytes = bytes.saturating_add(COST);
        self.shared.waiting().answered += bytes;
        Held {
            shared: Arc::clone(&self.shared),
            bytes,
        }
    }

    /// Blocks while too much waits to be written or answered.
    pub(super) fn wait_for_room(&self) {
        let mut waiting = self.shared.waiting();
        while waiting.is_too_much() && !self.is_broken() {
            waiting = self
                .shared
                .room
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn is_broken(&self) -> bool {
        self.shared.broken.load(Ordering::Acquire)
    }

    /// Resolves when nothing can be written any more.
    pub(super) async fn broken(&self) {
        while !self.is_broken() {
            self.shared.breaks.notified().await;
        }
    }

    /// Waits until everything is written. Nothing may be sent afterwards.
    pub(super) async fn finish(&self) {
        drop(self.messages.send(None));
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(written) = written {
            drop(written.await);
        }
    }
}

fn write_all(mut output: impl Write, waiting: &Receiver<Option<Vec<u8>>>, shared: &Shared) {
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut last = false;
    while !last {
        let Ok(Some(message)) = waiting.recv() else { return };
        let mut taken = 0;
        let mut next = Some(message);
        while let Some(message) = next.take() {
            taken += message.len();
            chunk.extend_from_slice(&message);
            chunk.push(b'\n');
            if chunk.len() < CHUNK {
                match waiting.try_recv() {
                    Ok(Some(message)) => next = Some(message),
                    Ok(None) => last = true,
                    Err(_) => {}
                }
            }
        }
        if !shared.broken.load(Ordering::Acquire)
            && let Err(error) =
                lines::write_all(&mut output, &chunk, || shared.broken.load(Ordering::Acquire))
        {
            tracing::debug!(%error, "standard output cannot be written any more");
            shared.broken.store(true, Ordering::Release);
            shared.breaks.notify_one();
        }
        chunk.clear();
        chunk.shrink_to(CHUNK);
        shared.waiting().written -= taken;
        shared.room.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keeps its thread until the other end is gone.
    struct Stuck(Receiver<()>);

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Outgoing {
        pub(in crate::mcp::stdio) fn has_room(&self) -> bool {
            !self.shared.waiting().is_too_much()
        }
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_asked_nothing_more() {
        let (reads, stuck) = channel();
        let outgoing = Outgoing::new(Stuck(stuck)).unwrap();
        assert!(outgoing.ask(b"{}".to_vec()));
        outgoing.send(vec![b' '; MAX_WAITING]);
        assert!(!outgoing.ask(b"{}".to_vec()));
        drop(reads);
        outgoing.finish().await;
        assert!(outgoing.ask(b"{}".to_vec()), "there is room again");
        outgoing.give_up();
        assert!(!outgoing.ask(b"{}".to_vec()));
    }
}
