//! One connection: what is known of it, and its timeouts.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::serve::Limits;

/// How often the timeouts of a connection are checked, unless a timeout is shorter than a few of these.
const CHECK_EACH: Duration = Duration::from_secs(1);

/// The fewest bytes that an HTTP/2 client must take within the write timeout while a response waits for it.
const PROGRESS: u64 = 16 * 1024;

/// What a connection, its requests and its timeouts know of each other.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// Requests that began.
    requests: AtomicUsize,
    /// Requests that have no response yet.
    running: AtomicUsize,
    /// Responses of HTTP/2 that are not written yet, by the parity of the epoch in which they began to wait.
    unwritten: [AtomicUsize; 2],
    epoch: AtomicUsize,
    read: AtomicU64,
    written: AtomicU64,
    /// Whether the last write found no room.
    blocked: AtomicBool,
    http2: AtomicBool,
    /// Notified when the connection should shut down gracefully.
    pub(super) leave: Notify,
}

impl Activity {
    /// A request begins.
    pub(super) fn begin(self: &Arc<Self>, http2: bool) -> Running {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        if http2 {
            // Ordered before the look at the shutdown, which looks in the other order.
            self.http2.store(true, Ordering::SeqCst);
        }
        Running(Arc::clone(self))
    }

    /// A response of HTTP/2 begins to wait for its client.
    pub(super) fn respond(self: &Arc<Self>) -> Unwritten {
        let parity = self.epoch.load(Ordering::Relaxed) % 2;
        self.unwritten[parity].fetch_add(1, Ordering::Relaxed);
        Unwritten {
            activity: Arc::clone(self),
            parity,
        }
    }

    /// Whether a request of HTTP/2 was seen.
    pub(super) fn is_http2(&self) -> bool {
        self.http2.load(Ordering::SeqCst)
    }
}

/// A request without a response.
#[derive(Debug)]
pub(super) struct Running(Arc<Activity>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A response of HTTP/2 that is not written yet.
#[derive(Debug)]
pub(super) struct Unwritten {
    activity: Arc<Activity>,
    parity: usize,
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        self.activity.unwritten[self.parity].fetch_sub(1, Ordering::Relaxed);
    }
}

/// What to do with a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Keep,
    /// It is idle: shut it down gracefully.
    Close,
    /// Its client does not get on: drop it.
    Abort,
}

/// The timeouts of one connection.
///
/// hyper counts the time between two requests as time of the second request's headers, begins no timeout before it knows the
/// version of HTTP, and lets a client take its response as slowly as it likes.
#[derive(Debug)]
pub(super) struct Timeouts {
    header_read: Duration,
    idle: Duration,
    write: Duration,
    requests: usize,
    read: u64,
    written: u64,
    idle_since: Instant,
    headers_since: Option<Instant>,
    blocked_since: Option<Instant>,
    epoch_since: Instant,
    epoch_written: u64,
}

impl Timeouts {
    pub(super) fn new(limits: &Limits) -> Self {
        let now = Instant::now();
        Self {
            header_read: limits.header_read_timeout,
            idle: limits.idle_timeout,
            write: limits.write_timeout,
            requests: 0,
            read: 0,
            written: 0,
            idle_since: now,
            // A client must begin in time, too.
            headers_since: Some(now),
            blocked_since: None,
            epoch_since: now,
            epoch_written: 0,
        }
    }

    /// How often to check.
    pub(super) fn period(&self) -> Duration {
        let shortest = self.header_read.min(self.idle).min(self.write) / 4;
        shortest.clamp(Duration::from_millis(1), CHECK_EACH)
    }

    pub(super) fn check(&mut self, activity: &Activity) -> Verdict {
        let now = Instant::now();
        let is_over = |since: Option<Instant>, timeout: Duration| {
            since.is_some_and(|since| now.duration_since(since) >= timeout)
        };
        let requests = activity.requests.load(Ordering::Relaxed);
        let read = activity.read.load(Ordering::Relaxed);
        let written = activity.written.load(Ordering::Relaxed);
        let http2 = activity.is_http2();

        let is_blocked = activity.blocked.load(Ordering::Relaxed) && written == self.written;
        self.blocked_since = is_blocked.then(|| self.blocked_since.unwrap_or(now));
        if is_over(self.blocked_since, self.write) || self.is_stalled(activity, now, written) {
            return Verdict::Abort;
        }

        let unwritten = || {
            activity
                .unwritten
                .iter()
                .any(|count| count.load(Ordering::Relaxed) > 0)
        };
        let is_busy =
            activity.running.load(Ordering::Relaxed) > 0 || requests != self.requests || unwritten();
        // Over HTTP/2 pings are written also on an idle connection.
        let is_writing = is_blocked || (!http2 && written != self.written);
        if is_busy || is_writing {
            self.idle_since = now;
            self.headers_since = None;
        } else if read != self.read && !http2 {
            self.headers_since.get_or_insert(now);
        }
        (self.requests, self.read, self.written) = (requests, read, written);
        if is_over(self.headers_since, self.header_read) {
            return Verdict::Abort;
        }
        if is_over(Some(self.idle_since), self.idle) {
            return Verdict::Close;
        }
        Verdict::Keep
    }

    /// Whether a response of HTTP/2 waited for the whole write timeout while its client took next to nothing.
    fn is_stalled(&mut self, activity: &Activity, now: Instant, written: u64) -> bool {
        if now.duration_since(self.epoch_since) < self.write {
            return false;
        }
        let epoch = activity.epoch.fetch_add(1, Ordering::Relaxed);
        let waited = activity.unwritten[(epoch + 1) % 2].load(Ordering::Relaxed) > 0;
        let progress = written - self.epoch_written;
        (self.epoch_since, self.epoch_written) = (now, written);
        waited && progress < PROGRESS
    }
}

/// A stream that counts what goes over it.
#[derive(Debug)]
pub(super) struct Counted<S> {
    stream: S,
    activity: Arc<Activity>,
}

impl<S> Counted<S> {
    pub(super) fn new(stream: S, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }

    fn wrote(&self, result: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        self.activity
            .blocked
            .store(result.is_pending(), Ordering::Relaxed);
        if let Poll::Ready(Ok(count)) = result {
            self.activity.written.fetch_add(count as u64, Ordering::Relaxed);
        }
        result
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Counted<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let count = buffer.filled().len() - before;
        self.activity.read.fetch_add(count as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Counted<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.wrote(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
