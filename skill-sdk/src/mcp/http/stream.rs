//! The response to a call: one JSON document, or a stream of events that ends with the result.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

use super::routes::reply;
use crate::http::answer;
use crate::serve::Permit;

/// How long a call may send nothing before its stream begins.
const QUIET: Duration = Duration::from_secs(10);

/// How often something is sent on a quiet stream, so that no proxy closes the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The response at the end of a call.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) message: Vec<u8>,
    pub(super) permit: Option<Permit>,
}

/// A running call; `None` for one that its client cancelled.
type Running = Pin<Box<dyn Future<Output = Option<Reply>> + Send>>;

/// One JSON document.
fn document(ended: Option<Reply>) -> Response {
    match ended {
        None => StatusCode::ACCEPTED.into_response(),
        Some(Reply {
            status: StatusCode::OK,
            mut message,
            permit,
        }) => {
            message.pop();
            answer::outputs(message, None, permit)
        }
        Some(Reply { status, message, .. }) => reply(status, message),
    }
}

/// A document when the client takes no events (`messages` is `None`), or when the call ends soon without a message before its
/// result; else a stream. The call runs while the client reads the response.
pub(super) async fn respond(
    call: impl Future<Output = Option<Reply>> + Send + 'static,
    messages: Option<Receiver<Vec<u8>>>,
) -> Response {
    let Some(messages) = messages else {
        return document(call.await);
    };
    let mut events = Events {
        call: Some(Box::pin(call)),
        first: None,
        messages,
        reply: None,
    };
    match timeout(QUIET, events.message()).await {
        Ok(None) => return document(events.reply),
        Ok(first) => events.first = first,
        Err(_) => {}
    }
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE).text("nothing new");
    let mut response = Sse::new(stream::unfold(events, Events::next))
        .keep_alive(keep_alive)
        .into_response();
    // For proxies that would collect the stream before they pass it on.
    let headers = response.headers_mut();
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The rest of a stream.
struct Events {
    /// `None` once it ended.
    call: Option<Running>,
    first: Option<Vec<u8>>,
    messages: Receiver<Vec<u8>>,
    /// It keeps its permit until the client took all of the stream.
    reply: Option<Reply>,
}

impl Events {
    /// The next message before the result.
    async fn message(&mut self) -> Option<Vec<u8>> {
        while let Some(call) = &mut self.call {
            tokio::select! {
                biased;
                Some(message) = self.messages.recv() => return Some(message),
                reply = call => (self.call, self.reply) = (None, reply),
            }
        }
        self.messages.try_recv().ok()
    }

    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        let mut message = self.first.take();
        if message.is_none() {
            message = self.message().await;
        }
        let message = match message {
            Some(message) => message,
            None => std::mem::take(&mut self.reply.as_mut()?.message),
        };
        // Messages are JSON, each on one line; the empty one is behind the result.
        let message = String::from_utf8(message).ok()?;
        let event = Event::default()
            .event("message")
            .data(message.strip_suffix('\n')?);
        Some((Ok(event), self))
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::header::CONTENT_TYPE;
    use futures_util::StreamExt;
    use tokio::sync::oneshot;
    use tokio::time::Instant;

    use super::*;
    use crate::pipe::Outgoing;

    fn kind(response: &Response) -> &str {
        response.headers()[CONTENT_TYPE].to_str().unwrap()
    }

    async fn next(body: &mut axum::body::BodyDataStream) -> String {
        let chunk = body.next().await.unwrap().unwrap();
        String::from_utf8(chunk.to_vec()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_is_quiet_for_long_begins_its_stream() {
        let (_outgoing, messages) = Outgoing::channel();
        let (done, ended) = oneshot::channel();
        let began = Instant::now();
        let response = respond(async { ended.await.ok() }, Some(messages)).await;
        assert_eq!(began.elapsed(), QUIET);
        assert_eq!(kind(&response), "text/event-stream");
        let mut body = Body::into_data_stream(response.into_body());
        for _ in 0..3 {
            assert_eq!(next(&mut body).await, ": nothing new\n\n");
        }
        assert_eq!(began.elapsed(), QUIET + 3 * KEEP_ALIVE);
        let (status, message, permit) = (StatusCode::OK, b"{}\n".to_vec(), None);
        assert!(
            done.send(Reply {
                status,
                message,
                permit
            })
            .is_ok()
        );
        assert_eq!(next(&mut body).await, "event: message\ndata: {}\n\n");
        assert!(body.next().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_ends_soon_is_one_document() {
        let (_outgoing, messages) = Outgoing::channel();
        let call = async {
            tokio::time::sleep(QUIET / 2).await;
            let (status, message, permit) = (StatusCode::OK, b"{}\n".to_vec(), None);
            Some(Reply {
                status,
                message,
                permit,
            })
        };
        assert_eq!(kind(&respond(call, Some(messages)).await), "application/json");
    }
}
