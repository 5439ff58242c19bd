//! A connection whose client does not say what it wants.
//!
//! The server waits for the first bytes to tell HTTP/2 from HTTP/1 before any of its own limits begins, so a client that
//! sends nothing, or a part of the opening of HTTP/2, would hold its connection forever.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How HTTP/2 begins. Anything else is HTTP/1.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream that fails unless its client shows in time which version it speaks.
pub(super) struct Opening<S> {
    stream: S,
    /// How much of the preface came.
    matched: usize,
    /// `None` once the version is known.
    patience: Option<Pin<Box<Sleep>>>,
}

impl<S> Opening<S> {
    /// `stream`, whose client has `time` to begin.
    pub(super) fn new(stream: S, time: Duration) -> Self {
        Self {
            stream,
            matched: 0,
            patience: Some(Box::pin(sleep(time))),
        }
    }

    fn look_at(&mut self, bytes: &[u8]) {
        let expected = &PREFACE[self.matched..];
        let agreeing = bytes
            .iter()
            .zip(expected)
            .take_while(|(byte, wanted)| byte == wanted)
            .count();
        self.matched += agreeing;
        if agreeing < bytes.len() || self.matched == PREFACE.len() {
            self.patience = None;
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Opening<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let opening = self.get_mut();
        let before = buffer.filled().len();
        match Pin::new(&mut opening.stream).poll_read(cx, buffer) {
            Poll::Pending => {
                let over = |patience: &mut Pin<Box<Sleep>>| patience.as_mut().poll(cx).is_ready();
                if opening.patience.as_mut().is_some_and(over) {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                Poll::Pending
            }
            ready @ Poll::Ready(_) => {
                if opening.patience.is_some() {
                    opening.look_at(&buffer.filled()[before..]);
                }
                ready
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Opening<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
