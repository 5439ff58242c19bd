//! Streams of HTTP/2 whose clients do not take their answers.
//!
//! A client that opens no window keeps its answer in the memory of the host, on a connection on which all else goes well.
//! So each stream has a clock of its own: it is reset when its client takes nothing for as long as a client of HTTP/1 may
//! leave its connection unread. The other streams go on. What hyper has handed out cannot be taken back: a client that stops
//! to take the end of an answer loses its connection, unless it takes others meanwhile: over a slow link one stream may wait for
//! many.

use std::cell::Cell;
use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use hyper::rt::Executor;
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep_until};

use super::edge::Traffic;
use super::served::PIECE;
use crate::pipeline::{later, timed};

tokio::task_local! {
    /// The stream that is being polled.
    static STREAM: Stream;
}

/// What is known of a stream.
#[derive(Default)]
struct Stream {
    /// Since when its client was offered something that it did not take.
    offered: Cell<Option<Instant>>,
    answer: Cell<Option<Answer>>,
}

/// An answer that began.
struct Answer {
    /// How many bytes of it are on their way.
    taken: Arc<AtomicUsize>,
    /// Resolves when nothing is left of it.
    end: oneshot::Receiver<Infallible>,
    traffic: Arc<Traffic>,
}

/// Kept by all that is left of an answer.
#[derive(Clone)]
pub(super) struct Untaken {
    taken: Arc<AtomicUsize>,
    traffic: Arc<Traffic>,
    _until_dropped: Arc<oneshot::Sender<Infallible>>,
}

impl Untaken {
    /// So many bytes are on their way.
    pub(super) fn took(&self, count: usize) {
        self.taken.fetch_add(count, Ordering::Relaxed);
        self.traffic.sends(count);
    }
}

/// The stream that is being polled begins its answer.
pub(super) fn answered(traffic: &Arc<Traffic>) -> Untaken {
    let (until_dropped, end) = oneshot::channel();
    let taken = Arc::<AtomicUsize>::default();
    let answer = Answer {
        taken: Arc::clone(&taken),
        end,
        traffic: Arc::clone(traffic),
    };
    // Without a stream nobody has a clock for it.
    let _ = STREAM.try_with(|stream| stream.answer.set(Some(answer)));
    Untaken {
        taken,
        traffic: Arc::clone(traffic),
        _until_dropped: Arc::new(until_dropped),
    }
}

/// The stream that is being polled has something that its client may take, from now on.
pub(super) fn offered() {
    let _ = STREAM.try_with(|stream| stream.offered.set(Some(Instant::now())));
}

/// The stream that is being polled has nothing that its client may take.
pub(super) fn nothing_offered() {
    let _ = STREAM.try_with(|stream| stream.offered.set(None));
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
        tokio::spawn(STREAM.scope(Stream::default(), watched(stream, self.patience)));
    }
}

/// Runs a stream to its end, or drops it, which resets it.
async fn watched<S: Future>(stream: S, patience: Duration) {
    if until_handed_out(stream, patience).await.is_none() {
        return;
    }
    let Some(answer) = STREAM.with(|stream| stream.answer.take()) else {
        return;
    };
    let Answer {
        taken,
        mut end,
        traffic,
    } = answer;
    let count = || [taken.load(Ordering::Relaxed), traffic.sent()];
    let mut before = count();
    while timed(|| Some(patience), &mut end).await.is_none() {
        let now = count();
        if std::iter::zip(now, before).all(|(now, before)| now.wrapping_sub(before) < PIECE) {
            return traffic.give_up();
        }
        before = now;
    }
}

/// Runs a stream until hyper has handed out all of its answer; `None` when its client takes nothing.
async fn until_handed_out<S: Future>(stream: S, patience: Duration) -> Option<()> {
    let mut stream = pin!(stream);
    let mut clock: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|cx| {
        if stream.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(()));
        }
        let Some(since) = STREAM.with(|stream| stream.offered.get()) else {
            return Poll::Pending;
        };
        let end = later(since, patience);
        let clock = clock.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if clock.deadline() != end {
            clock.as_mut().reset(end);
        }
        clock.as_mut().poll(cx).map(|()| None)
    })
    .await
}
