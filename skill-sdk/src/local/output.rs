//! Lines to a client, with a bound.
//!
//! Whoever has a line adds it to a buffer. It is written by a thread that is about to read and has nothing better to do,
//! or by a thread of its own, never by one that others wait for. A client that does not read makes the buffer fill, and
//! then nothing more is read from it.

use std::io::{self, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::lines;

/// How much may wait for a client before nothing more is read from it, in bytes.
pub(super) const MAX_WAITING: usize = 4 * 1024 * 1024;

/// How much may wait for a client before reports of progress are left out, in bytes.
const MAX_PROGRESS: usize = 256 * 1024;

/// The largest buffer that is kept, in bytes.
const KEPT: usize = 256 * 1024;

/// What goes out.
pub(super) struct Output {
    state: Mutex<State>,
    /// There is something to write, or there never will be again.
    work: Condvar,
    /// Something was written.
    room: Condvar,
    /// Told when all is written or nothing can be written any more.
    idle: Notify,
    /// Whose turn it is, is `State::writing`. None once the output is closed.
    writer: Mutex<Option<Box<dyn Write + Send>>>,
}

#[derive(Default)]
struct State {
    buffer: Vec<u8>,
    /// An empty buffer to swap with.
    spare: Vec<u8>,
    /// Somebody is writing, and goes on until the buffer is empty.
    writing: bool,
    /// Nothing can be written any more.
    broken: bool,
    /// Nothing will be written any more.
    closed: bool,
}

impl Output {
    pub(super) fn new(writer: Box<dyn Write + Send>) -> Self {
        Self {
            state: Mutex::default(),
            work: Condvar::new(),
            room: Condvar::new(),
            idle: Notify::new(),
            writer: Mutex::new(Some(writer)),
        }
    }

    /// Adds lines; somebody has to see to it that they are written.
    pub(super) fn add(&self, add: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        if !state.broken {
            add(&mut state.buffer);
        }
    }

    /// Adds a line that may be left out when the client is slow, unless `superseded` says that it came too late.
    pub(super) fn add_progress(&self, superseded: impl FnOnce() -> bool, add: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        if !state.broken && state.buffer.len() < MAX_PROGRESS && !superseded() {
            add(&mut state.buffer);
            drop(state);
            self.work.notify_one();
        }
    }

    /// Has the thread of the output write what was added.
    pub(super) fn write_later(&self) {
        self.work.notify_one();
    }

    /// Writes what was added, unless somebody else does already. May block.
    pub(super) fn write_now(&self) {
        let mut state = self.state();
        while !state.writing && !state.broken && !state.buffer.is_empty() {
            state = self.write(state);
        }
    }

    /// Whether there is something that nobody is writing.
    pub(super) fn is_waiting(&self) -> bool {
        let state = self.state();
        !state.writing && !state.buffer.is_empty()
    }

    /// Writes until the output is closed.
    pub(super) fn work(&self) {
        let mut state = self.state();
        loop {
            if state.closed || state.broken {
                return;
            }
            if !state.writing && !state.buffer.is_empty() {
                state = self.write(state);
            } else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Blocks while too much waits for the client; false once it is gone.
    pub(super) fn wait_for_room(&self) -> bool {
        let mut state = self.state();
        while state.buffer.len() > MAX_WAITING && !state.broken && !state.closed {
            if state.writing {
                state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                state = self.write(state);
            }
        }
        if !state.writing && !state.buffer.is_empty() {
            // Whoever added it meanwhile left it to the one that wrote.
            self.work.notify_one();
        }
        !state.broken && !state.closed
    }

    /// Resolves when all is written, or nothing can be.
    pub(super) async fn written(&self) {
        loop {
            let idle = self.idle.notified();
            {
                let state = self.state();
                if state.broken || (state.buffer.is_empty() && !state.writing) {
                    return;
                }
            }
            self.work.notify_one();
            idle.await;
        }
    }

    /// Resolves when nothing can be written any more.
    pub(super) async fn broken(&self) {
        loop {
            let idle = self.idle.notified();
            if self.state().broken {
                return;
            }
            idle.await;
        }
    }

    /// Closes what is written to, and lets go of everybody who waits.
    pub(super) fn close(&self) {
        self.state().closed = true;
        // A write that is stuck is left behind.
        if let Ok(mut writer) = self.writer.try_lock() {
            *writer = None;
        }
        self.work.notify_all();
        self.room.notify_all();
    }

    /// Writes all that is in the buffer.
    fn write<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.writing = true;
        let spare = std::mem::take(&mut state.spare);
        let mut bytes = std::mem::replace(&mut state.buffer, spare);
        drop(state);
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match writer.as_mut() {
            Some(writer) => lines::write_all(writer, &bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        drop(writer);
        bytes.clear();
        let mut state = self.state();
        state.writing = false;
        if bytes.capacity() <= KEPT {
            state.spare = bytes;
        }
        if let Err(error) = result {
            tracing::info!(%error, "the client went away");
            state.broken = true;
            state.buffer = Vec::new();
            self.work.notify_all();
        }
        self.room.notify_all();
        if state.broken || state.buffer.is_empty() {
            self.idle.notify_waiters();
        }
        state
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that can panic runs under the lock but the writing of our own texts.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    struct Gone;

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_added_is_written_in_order() {
        let shared = Shared::default();
        let output = Output::new(Box::new(shared.clone()));
        output.add(|buffer| buffer.extend_from_slice(b"a"));
        assert!(output.is_waiting() && shared.0.lock().unwrap().is_empty());
        output.add_progress(|| true, |buffer| buffer.extend_from_slice(b"x"));
        output.add_progress(|| false, |buffer| buffer.extend_from_slice(b"b"));
        output.write_now();
        assert_eq!(*shared.0.lock().unwrap(), b"ab");
        output.add(|buffer| buffer.extend(std::iter::repeat_n(b'c', MAX_PROGRESS)));
        output.add_progress(|| false, |buffer| buffer.extend_from_slice(b"x"));
        output.write_now();
        assert_eq!(shared.0.lock().unwrap().len(), 2 + MAX_PROGRESS);
        output.close();
        output.work();
        assert_eq!(Arc::strong_count(&shared.0), 1, "what is written to is closed");
    }

    /// Says what it writes, and waits until it may.
    struct Gated(Sender<usize>, Receiver<()>);

    impl Write for Gated {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.len()).unwrap();
            self.1.recv().unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn what_is_added_while_room_is_made_is_written() {
        const PATIENCE: Duration = Duration::from_mins(1);
        let (writes, written) = channel();
        let (open, gate) = channel();
        let output = Arc::new(Output::new(Box::new(Gated(writes, gate))));
        let worker = Arc::clone(&output);
        let working = thread::spawn(move || worker.work());
        // Once the first line is written, the worker waits for more.
        output.add(|buffer| buffer.push(b'a'));
        open.send(()).unwrap();
        output.written().await;
        assert_eq!(written.recv_timeout(PATIENCE), Ok(1));

        output.add(|buffer| buffer.resize(MAX_WAITING + 1, b'b'));
        let reader = Arc::clone(&output);
        let reading = thread::spawn(move || reader.wait_for_room());
        assert_eq!(written.recv_timeout(PATIENCE), Ok(MAX_WAITING + 1));
        output.add(|buffer| buffer.push(b'c'));
        output.write_now();
        open.send(()).unwrap();
        assert!(reading.join().unwrap());
        assert_eq!(written.recv_timeout(PATIENCE), Ok(1));
        open.send(()).unwrap();
        output.written().await;
        output.close();
        working.join().unwrap();
    }

    #[test]
    fn a_client_that_is_gone_is_noticed() {
        let output = Output::new(Box::new(Gone));
        assert!(output.wait_for_room());
        output.add(|buffer| buffer.extend_from_slice(b"a"));
        output.write_now();
        assert!(!output.wait_for_room());
        output.add(|buffer| buffer.extend_from_slice(b"a"));
        assert!(!output.is_waiting());
        output.work();
    }
}
