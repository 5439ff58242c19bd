//! The response to a call: one JSON document, or a stream of events that ends with the result.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::mpsc::{self, Receiver, Sender};

use super::routes::empty;
use crate::http::answer::json;
use crate::mcp::call::Outgoing;

/// How many messages may wait for a client that is slow to read.
const QUEUE: usize = 64;

/// The part of the queue that notifications leave free for questions, which must not be dropped.
const KEPT_FREE: usize = QUEUE / 2;

/// How long a call may send nothing before its stream begins.
const QUIET: Duration = Duration::from_secs(10);

/// How often something is sent on a quiet stream, so that no proxy closes the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The queue of messages that a call sends before its result.
#[derive(Clone)]
pub(super) struct Events(Sender<Vec<u8>>);

impl Events {
    pub(super) fn channel() -> (Self, Receiver<Vec<u8>>) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Self(sender), receiver)
    }
}

impl Outgoing for Events {
    fn offer(&self, notification: Vec<u8>) {
        if self.0.capacity() > KEPT_FREE {
            drop(self.0.try_send(notification));
        }
    }

    fn ask(&self, question: Vec<u8>) -> bool {
        self.0.try_send(question).is_ok()
    }
}

/// The status and the message at the end of a call; `None` for a call that its client cancelled.
pub(super) type Reply = Option<(StatusCode, Vec<u8>)>;

/// A running call, which is cancelled when it is dropped.
type Running = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// One JSON document.
pub(super) fn document(reply: Reply) -> Response {
    match reply {
        Some((status, message)) => json(status, message),
        None => empty(StatusCode::ACCEPTED),
    }
}

/// A document when the call ends soon without a message before its result, else a stream. The call runs while the client
/// reads the response, and is cancelled when the client disconnects.
pub(super) async fn respond(
    call: impl Future<Output = Reply> + Send + 'static,
    mut messages: Receiver<Vec<u8>>,
) -> Response {
    let mut call: Running = Box::pin(call);
    let mut ready = VecDeque::new();
    let mut ended = None;
    tokio::select! {
        biased;
        Some(message) = messages.recv() => ready.push_back(message),
        reply = &mut call => ended = Some(reply),
        () = tokio::time::sleep(QUIET) => {}
    }
    let running = match ended {
        None => Some(call),
        Some(reply) => {
            drop(call);
            take_rest(&mut messages, &mut ready);
            if ready.is_empty() {
                return document(reply);
            }
            ready.extend(reply.map(|(_, message)| message));
            None
        }
    };
    let events = stream::unfold((running, messages, ready), next);
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE).text("nothing new");
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    // For proxies that would collect the stream before they pass it on.
    let unbuffered = (
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response.headers_mut().extend([unbuffered]);
    response
}

type State = (Option<Running>, Receiver<Vec<u8>>, VecDeque<Vec<u8>>);

/// The next event.
async fn next((mut running, mut messages, mut ready): State) -> Option<(Result<Event, Infallible>, State)> {
    if ready.is_empty()
        && let Some(call) = &mut running
    {
        tokio::select! {
            biased;
            Some(message) = messages.recv() => ready.push_back(message),
            reply = call => {
                running = None;
                take_rest(&mut messages, &mut ready);
                ready.extend(reply.map(|(_, message)| message));
            }
        }
    }
    // The messages are JSON on one line.
    let message = String::from_utf8(ready.pop_front()?).ok()?;
    let event = Event::default().event("message").data(message);
    Some((Ok(event), (running, messages, ready)))
}

/// Takes the messages that a call sent before it ended.
fn take_rest(messages: &mut Receiver<Vec<u8>>, ready: &mut VecDeque<Vec<u8>>) {
    while let Ok(message) = messages.try_recv() {
        ready.push_back(message);
    }
}
