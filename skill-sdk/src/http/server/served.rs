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
use super::streams::{self, Untaken};

/// How much of an answer HTTP/2 gets at once. What it has got is written by a window of one byte, and cannot be taken back.
pub(super) const PIECE: usize = 16 * 1024;

/// The body of an answer; its request is being served until the last part is on its way.
pub(super) struct Served {
    body: Body,
    /// What is left of a part that is handed out in pieces.
    rest: Bytes,
    active: Option<Active>,
    /// There for HTTP/2.
    untaken: Option<Untaken>,
}

impl Served {
    pub(super) fn new(body: Body, active: Option<Active>, multiplexed: bool) -> Self {
        let traffic = active.as_ref().filter(|_| multiplexed).and_then(Active::traffic);
        Self {
            body,
            rest: Bytes::new(),
            untaken: traffic.map(streams::answered),
            active,
        }
    }

    fn part(&mut self, mut bytes: Bytes) -> Part {
        if self.untaken.is_some() && bytes.len() > PIECE {
            self.rest = bytes.split_off(PIECE);
        }
        let unsent = if self.is_end_stream() {
            self.active.take().and_then(Active::served)
        } else {
            self.active.as_ref().and_then(Active::unsent)
        };
        Part {
            bytes,
            unsent,
            untaken: self.untaken.clone(),
        }
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
        if self.untaken.is_some() {
            // Until there is something to take the client is not late.
            streams::nothing_offered();
        }
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if self.untaken.is_some() {
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
    untaken: Option<Untaken>,
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
            unsent.traffic.took();
        }
        if let Some(untaken) = &self.untaken {
            untaken.took(count);
        }
    }
}

/// Something of an answer that is not written: the host does not stop as long as there is any.
pub(super) struct Unsent {
    traffic: Arc<Traffic>,
    /// A host that stops waits for no request that came after it began to: it is refused, and its connection closes after it.
    is_waited_for: bool,
}

impl Unsent {
    pub(super) fn new(traffic: &Arc<Traffic>) -> Self {
        let is_waited_for = !traffic.service.shutdown().is_draining();
        Self::counted(traffic, is_waited_for)
    }

    fn counted(traffic: &Arc<Traffic>, is_waited_for: bool) -> Self {
        if is_waited_for {
            traffic.service.shutdown().answer_begins();
        }
        Self {
            traffic: Arc::clone(traffic),
            is_waited_for,
        }
    }

    pub(super) fn again(&self) -> Self {
        Self::counted(&self.traffic, self.is_waited_for)
    }

    pub(super) fn traffic(&self) -> &Arc<Traffic> {
        &self.traffic
    }
}

impl Drop for Unsent {
    fn drop(&mut self) {
        if self.is_waited_for {
            self.traffic.service.shutdown().answer_ends();
        }
    }
}
