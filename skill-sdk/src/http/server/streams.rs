//! Streams of HTTP/2 whose clients do not take their answers.
//!
//! A client that opens no window keeps its answer in the memory of the host, on a connection on which all else goes well.
//! So each stream has a clock of its own: it is reset when its client takes nothing for as long as a client of HTTP/1 may
//! leave its connection unread. The other streams go on.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use hyper::rt::Executor;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::pipeline::later;

tokio::task_local! {
    /// Since when the client of this stream was offered something that it did not take.
    static OFFERED: Cell<Option<Instant>>;
}

/// The stream that is being polled has something that its client may take, from now on.
pub(super) fn offered() {
    // HTTP/1 has no streams.
    let _ = OFFERED.try_with(|since| since.set(Some(Instant::now())));
}

/// The stream that is being polled has nothing that its client may take.
pub(super) fn nothing_offered() {
    let _ = OFFERED.try_with(|since| since.set(None));
}

/// Runs streams.
#[derive(Debug, Clone, Copy)]
pub(super) struct Streams {
    /// How long a client may take nothing of an answer.
    pub(super) patience: Duration,
}

impl<S> Executor<S> for Streams
where
    S: Future + Send + 'static,
    S::Output: Send,
{
    fn execute(&self, stream: S) {
        tokio::spawn(OFFERED.scope(Cell::new(None), watched(stream, self.patience)));
    }
}

/// Runs a stream to its end, or drops it, which resets it.
async fn watched<S: Future>(stream: S, patience: Duration) {
    let mut stream = pin!(stream);
    let mut clock: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|cx| {
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        let Some(since) = OFFERED.with(Cell::get) else {
            return Poll::Pending;
        };
        let end = later(since, patience);
        let clock = clock.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if clock.deadline() != end {
            clock.as_mut().reset(end);
        }
        clock.as_mut().poll(cx)
    })
    .await;
}
