//! A connection that is given up when its client does not get on.
//!
//! hyper waits for the first bytes to tell HTTP/2 from HTTP/1 before any of its own limits begins, counts the time between
//! two requests as time of the second head, and lets a client take its answer as slowly as it likes. This stream has
//! the three clocks that are wanted: for a head that began, for a connection without a request, for an answer that
//! nobody takes.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep, sleep_until};

use super::edge::Traffic;
use super::refused::in_own_words;
use crate::http::Limits;
use crate::pipeline::after;

/// How HTTP/2 begins. Anything else is HTTP/1.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long a client may take for what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    head: Duration,
    idle: Duration,
    write: Duration,
}

impl Patience {
    pub(super) fn of(limits: &Limits) -> Self {
        Self {
            head: limits.head_time,
            idle: limits.idle_time,
            write: limits.write_time,
        }
    }
}

/// What the client is doing as far as its bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It sent so much of the preface of HTTP/2, and nothing else yet.
    Opening(usize),
    /// It sent something after so many requests of HTTP/1, mostly a whole head. No clock was set for it; this is what the
    /// pulse of its traffic was before.
    Begun { requests: usize, pulse: usize },
    /// It sent a part of a head of HTTP/1, of the request after so many.
    Head(usize),
    /// It waits, or is being served; this was the pulse of its traffic.
    Quiet(usize),
}

/// See the module.
pub(super) struct Guarded<S> {
    stream: S,
    traffic: Arc<Traffic>,
    patience: Patience,
    phase: Phase,
    /// Whether it is HTTP/2, whose heads cannot be told from other frames here.
    multiplexed: bool,
    clock: Pin<Box<Sleep>>,
    /// There while a write does not get on.
    stuck: Option<Pin<Box<Sleep>>>,
    /// An answer that is written in place of hyper's.
    own: Vec<u8>,
}

impl<S> Guarded<S> {
    pub(super) fn new(stream: S, patience: Patience, traffic: Arc<Traffic>) -> Self {
        Self {
            stream,
            traffic,
            phase: Phase::Opening(0),
            multiplexed: false,
            clock: Box::pin(sleep(patience.head)),
            patience,
            stuck: None,
            own: Vec::new(),
        }
    }

    fn received(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        match self.phase {
            Phase::Opening(matched) => {
                let expected = &PREFACE[matched..];
                let agreeing = bytes
                    .iter()
                    .zip(expected)
                    .take_while(|(byte, wanted)| byte == wanted)
                    .count();
                let matched = matched + agreeing;
                if matched == PREFACE.len() {
                    self.multiplexed = true;
                    self.quiet();
                } else if agreeing < bytes.len() {
                    // The clock goes on: this is the first head.
                    self.phase = Phase::Head(0);
                } else {
                    self.phase = Phase::Opening(matched);
                }
            }
            Phase::Quiet(pulse) if !self.multiplexed && !self.traffic.is_active() => {
                self.phase = Phase::Begun {
                    requests: self.traffic.begun(),
                    pulse,
                };
            }
            Phase::Quiet(_) | Phase::Begun { .. } | Phase::Head(_) => {}
        }
    }

    fn quiet(&mut self) {
        self.phase = Phase::Quiet(self.traffic.pulse());
        self.clock.as_mut().reset(after(self.patience.idle));
    }

    /// Whether the client had its time.
    fn is_over(&mut self, cx: &mut Context<'_>) -> bool {
        match self.phase {
            // Nearly all heads come at once. The clock goes on as it was, and looks at the pulse when it is up.
            Phase::Begun { requests, pulse } if self.traffic.begun() != requests => {
                self.phase = Phase::Quiet(pulse);
            }
            Phase::Begun { requests, .. } => {
                self.phase = Phase::Head(requests);
                self.clock.as_mut().reset(after(self.patience.head));
            }
            Phase::Head(before) if self.traffic.begun() != before => self.quiet(),
            _ => {}
        }
        while self.clock.as_mut().poll(cx).is_ready() {
            match self.phase {
                // An answer that waits for its client has a clock of its own.
                Phase::Quiet(before)
                    if self.traffic.is_active() || self.traffic.pulse() != before || self.stuck.is_some() =>
                {
                    self.quiet();
                }
                _ => return true,
            }
        }
        false
    }
}

impl<S: AsyncWrite + Unpin> Guarded<S> {
    /// Watches the time of a write.
    fn written<T>(&mut self, cx: &mut Context<'_>, outcome: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stuck = None;
            return outcome;
        }
        let end = self.patience.write;
        let stuck = self
            .stuck
            .get_or_insert_with(|| Box::pin(sleep_until(after(end))));
        if stuck.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Poll::Pending
    }

    /// Writes what is left of the own answer.
    fn poll_own(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.own.is_empty() {
            let wrote = Pin::new(&mut self.stream).poll_write(cx, &self.own);
            let count = ready!(self.written(cx, wrote))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.own.drain(..count);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Guarded<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let guarded = self.get_mut();
        let before = buffer.filled().len();
        match Pin::new(&mut guarded.stream).poll_read(cx, buffer) {
            Poll::Pending if guarded.is_over(cx) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
            ready @ Poll::Ready(_) => {
                guarded.received(&buffer.filled()[before..]);
                ready
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Guarded<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let guarded = self.get_mut();
        ready!(guarded.poll_own(cx))?;
        if let Some(own) = in_own_words(bytes) {
            guarded.own = own;
            return Poll::Ready(Ok(bytes.len()));
        }
        let wrote = Pin::new(&mut guarded.stream).poll_write(cx, bytes);
        guarded.written(cx, wrote)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let guarded = self.get_mut();
        ready!(guarded.poll_own(cx))?;
        Pin::new(&mut guarded.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let guarded = self.get_mut();
        ready!(guarded.poll_own(cx))?;
        Pin::new(&mut guarded.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if let [part] = parts {
            return self.poll_write(cx, part);
        }
        let guarded = self.get_mut();
        ready!(guarded.poll_own(cx))?;
        let wrote = Pin::new(&mut guarded.stream).poll_write_vectored(cx, parts);
        guarded.written(cx, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
