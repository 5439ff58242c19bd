//! The body of an answer, which knows what of it the client took.
//!
//! hyper drops a body once its last part is in a buffer. The parts here count themselves until they are written to the
//! connection, so a host that stops loses the end of no answer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use hyper::body::{Buf, Bytes, Frame, SizeHint};

use super::edge::{Active, Traffic};
use super::streams;

/// How much of an answer HTTP/2 gets at once. What it has got is written by a window of one byte, and cannot be taken back.
const PIECE: usize = 16 * 1024;

/// The body of an answer; its request is being served until the last part is on its way.
pub(super) struct Served {
    body: Body,
    /// What is left of a part that is handed out in pieces.
    rest: Bytes,
    active: Option<Active>,
    multiplexed: bool,
}

impl Served {
    pub(super) fn new(body: Body, active: Option<Active>, multiplexed: bool) -> Self {
        Self {
            body,
            rest: Bytes::new(),
            active,
            multiplexed,
        }
    }

    fn part(&mut self, mut bytes: Bytes) -> Part {
        if self.multiplexed && bytes.len() > PIECE {
            self.rest = bytes.split_off(PIECE);
        }
        let unsent = if self.is_end_stream() {
            self.active.take().and_then(Active::served)
        } else {
            self.active.as_ref().and_then(Active::unsent)
        };
        Part { bytes, unsent }
    }
}

impl HttpBody for Served {
    type Data = Part;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Part>, axum::Error>>> {
        if !self.rest.is_empty() {
            let rest = std::mem::take(&mut self.rest);
            streams::offered();
            return Poll::Ready(Some(Ok(Frame::data(self.part(rest)))));
        }
        if self.multiplexed {
            // Until there is something to take the client is not late.
            streams::nothing_offered();
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if self.multiplexed {
            streams::offered();
        }
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(|bytes| self.part(bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        // It is asked before the first part.
        self.body.size_hint()
    }
}

/// A part of an answer.
pub(super) struct Part {
    bytes: Bytes,
    unsent: Option<Unsent>,
}

impl Buf for Part {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        if let Some(unsent) = &self.unsent {
            unsent.0.took();
        }
    }
}

/// Something of an answer that is not written: the host does not stop as long as there is any.
pub(super) struct Unsent(Arc<Traffic>);

impl Unsent {
    pub(super) fn new(traffic: &Arc<Traffic>) -> Self {
        traffic.operation.lifecycle().request_begins();
        Self(Arc::clone(traffic))
    }

    pub(super) fn again(&self) -> Self {
        Self::new(&self.0)
    }

    pub(super) fn traffic(&self) -> &Traffic {
        &self.0
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        self.0.operation.lifecycle().request_ends();
    }
}
