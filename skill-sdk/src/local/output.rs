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
    /// The thread of the output is wanted, or will not be any more.
    work: Condvar,
    /// Something was written.
    room: Condvar,
    /// Told when all is written, if somebody waits for that.
    idle: Notify,
    /// Told when nothing can be written any more.
    breaks: Notify,
    /// Whose turn it is, is `State::writing`. None once the output is closed.
    writer: Mutex<Option<Box<dyn Write + Send>>>,
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "any of them may be true with any other"
)]
struct State {
    buffer: Vec<u8>,
    /// An empty buffer to swap with.
    spare: Vec<u8>,
    /// Somebody is writing, and goes on until the buffer is empty.
    writing: bool,
    /// The thread of the output is to write, if nobody did before.
    wanted: bool,
    /// How many wait for room.
    waiting: usize,
    /// Somebody waits until all is written.
    awaited: bool,
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
            breaks: Notify::new(),
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
            self.want(&mut state);
        }
    }

    /// Has the thread of the output write what was added.
    pub(super) fn write_later(&self) {
        self.want(&mut self.state());
    }

    /// Wakes the thread of the output, unless it was woken before or somebody is writing anyway.
    fn want(&self, state: &mut State) {
        if !state.writing && !state.wanted && !state.buffer.is_empty() {
            state.wanted = true;
            self.work.notify_one();
        }
    }

    /// Writes what was added, unless somebody else does already. May block.
    pub(super) fn write_now(&self) {
        drop(self.write_all(self.state()));
    }

    /// Whether there is something that nobody is writing.
    pub(super) fn is_waiting(&self) -> bool {
        let state = self.state();
        !state.writing && !state.buffer.is_empty()
    }

    /// Writes whenever it is wanted, until the output is closed.
    pub(super) fn work(&self) {
        let mut state = self.state();
        while !state.closed && !state.broken {
            state = if std::mem::take(&mut state.wanted) {
                self.write_all(state)
            } else {
                self.work.wait(state).unwrap_or_else(PoisonError::into_inner)
            };
        }
    }

    /// Blocks while too much waits for the client; false once it is gone.
    pub(super) fn wait_for_room(&self) -> bool {
        let mut state = self.state();
        let mut wrote = false;
        while state.buffer.len() > MAX_WAITING && !state.broken && !state.closed {
            state = if state.writing {
                state.waiting += 1;
                let mut state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.waiting -= 1;
                state
            } else {
                wrote = true;
                self.write(state)
            };
        }
        if wrote {
            // Whoever added something meanwhile left it to the one that wrote.
            self.want(&mut state);
        }
        !state.broken && !state.closed
    }

    /// Resolves when all is written, or nothing can be.
    pub(super) async fn written(&self) {
        loop {
            let idle = self.idle.notified();
            {
                let mut state = self.state();
                if state.broken || (state.buffer.is_empty() && !state.writing) {
                    return;
                }
                state.awaited = true;
                self.want(&mut state);
            }
            idle.await;
        }
    }

    /// Resolves when nothing can be written any more.
    pub(super) async fn broken(&self) {
        loop {
            let breaks = self.breaks.notified();
            if self.state().broken {
                return;
            }
            breaks.await;
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

    /// Writes until nothing is left, unless somebody else does already.
    fn write_all<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        while !state.writing && !state.broken && !state.buffer.is_empty() {
            state = self.write(state);
        }
        state
    }

    /// Writes all that is in the buffer.
    fn write<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.writing = true;
        let spare = std::mem::take(&mut state.spare);
        let mut bytes = std::mem::replace(&mut state.buffer, spare);
        drop(state);
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match writer.as_mut() {
            Some(writer) => lines::write_all(writer, &bytes, || self.state().closed),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        };
        drop(writer);
        bytes.clear();
        if let Err(error) = &result
            && !self.state().closed
        {
            tracing::info!(%error, "the client went away");
        }
        let mut state = self.state();
        state.writing = false;
        if bytes.capacity() <= KEPT {
            state.spare = bytes;
        }
        if result.is_err() {
            state.broken = true;
            state.buffer = Vec::new();
            self.work.notify_all();
            self.breaks.notify_waiters();
        }
        if state.waiting > 0 {
            self.room.notify_all();
        }
        if state.awaited && (state.broken || state.buffer.is_empty()) {
            state.awaited = false;
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
        output.write_later();
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
    fn the_thread_of_the_output_is_not_woken_by_who_asks_for_room() {
        let output = Output::new(Box::new(Gone));
        for _ in 0..16 {
            assert!(output.wait_for_room());
            output.add(|buffer| buffer.push(b'a'));
            assert!(!output.state().wanted);
        }
        output.write_later();
        assert!(output.state().wanted);
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
