//! A stream of events: progress, and the result at its end.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use http_body::Frame;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::{Instant, Sleep, sleep};

use super::reply;
use crate::http::answer::json;
use crate::mcp::call::Stop;

/// How many messages may wait for a client that is behind with reading.
const WAITING: usize = 64;

/// So much room is left for what may not be left out: a burst of reports must not take that of a question behind it.
const KEPT_FREE: usize = WAITING / 2;

/// How often something is sent while there is nothing to say, so that no proxy takes the connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

enum Event {
    Report(Vec<u8>),
    End(StatusCode, Vec<u8>),
}

/// The side of a call.
#[derive(Clone)]
pub(super) struct Events(Sender<Event>);

impl Events {
    /// Sends a report, unless the client is behind with reading.
    pub(super) fn offer(&self, report: Vec<u8>) {
        if self.0.capacity() > KEPT_FREE {
            drop(self.0.try_send(Event::Report(report)));
        }
    }

    /// Sends a question to the client, which may not be left out: false when the client is behind with reading by as
    /// much as may wait.
    pub(super) fn ask(&self, question: Vec<u8>) -> bool {
        self.0.try_send(Event::Report(question)).is_ok()
    }

    /// Sends the result, which is empty when the client wants none; the status is for a client that got nothing before.
    pub(super) async fn end(&self, status: StatusCode, result: Vec<u8>) {
        // Without a client nobody waits for it.
        drop(self.0.send(Event::End(status, result)).await);
    }
}

/// A way for the messages of one call.
pub(super) fn channel() -> (Events, EventReceiver) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (Events(sender), EventReceiver(receiver))
}

pub(super) struct EventReceiver(Receiver<Event>);

/// Stops the call of a client that went away.
struct Guard(Option<Stop>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(stop) = &self.0 {
            stop.now();
        }
    }
}

/// The answer: JSON when the result comes first, else a stream. A client that goes away stops the call.
pub(super) async fn response(mut receiver: EventReceiver, stop: Stop) -> Response {
    let mut guard = Guard(Some(stop));
    match receiver.0.recv().await {
        Some(Event::End(status, result)) => {
            guard.0 = None;
            if result.is_empty() {
                reply::empty(status)
            } else {
                json(status, result)
            }
        }
        Some(Event::Report(report)) => {
            let stream = EventStream {
                receiver: receiver.0,
                ready: VecDeque::from([event(&report)]),
                guard,
                ended: false,
                quiet: Box::pin(sleep(KEEP_ALIVE)),
            };
            let mut response = Response::new(Body::new(stream));
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            // For proxies that would collect the stream before they pass it on.
            headers.insert(
                HeaderName::from_static("x-accel-buffering"),
                HeaderValue::from_static("no"),
            );
            response
        }
        None => reply::empty(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

fn event(message: &[u8]) -> Bytes {
    [b"event: message\ndata: ".as_slice(), message, b"\n\n"]
        .concat()
        .into()
}

struct EventStream {
    receiver: Receiver<Event>,
    ready: VecDeque<Bytes>,
    guard: Guard,
    ended: bool,
    quiet: Pin<Box<Sleep>>,
}

impl http_body::Body for EventStream {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let stream = self.get_mut();
        if let Some(ready) = stream.ready.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(ready))));
        }
        if stream.ended {
            return Poll::Ready(None);
        }
        let bytes = match stream.receiver.poll_recv(cx) {
            Poll::Ready(Some(Event::Report(report))) => event(&report),
            Poll::Ready(Some(Event::End(_, result))) => {
                stream.ended = true;
                stream.guard.0 = None;
                if result.is_empty() {
                    return Poll::Ready(None);
                }
                event(&result)
            }
            Poll::Ready(None) => {
                stream.ended = true;
                return Poll::Ready(None);
            }
            Poll::Pending => match stream.quiet.as_mut().poll(cx) {
                Poll::Ready(()) => Bytes::from_static(b": nothing new\n\n"),
                Poll::Pending => return Poll::Pending,
            },
        };
        stream.quiet.as_mut().reset(Instant::now() + KEEP_ALIVE);
        // The clock that was reset must be looked at once to ring.
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}
