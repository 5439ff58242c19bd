//! Requests and responses of one connection, whatever the routes are.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::{CONNECTION, HOST};
use axum::http::{HeaderValue, Request, Response, StatusCode, Version};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::Service as HyperService;
use hyper_util::service::TowerToHyperService;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::connection::{Activity, Unwritten};
use crate::http::{answer, operations};
use crate::serve::{Guard, Overloaded, Service};

/// What all connections of a server share.
pub(super) struct Routes {
    pub(super) router: TowerToHyperService<Router>,
    pub(super) service: Service,
    /// Rejects what web pages of others send to a server without tokens.
    pub(super) guard: Option<Arc<Guard>>,
    /// One permit for each request of HTTP/2, kept until its response is written.
    pub(super) requests: Arc<Semaphore>,
}

/// Responds to a request. `crowded`: there are too many connections, and only probes get what they ask for.
pub(super) async fn respond(
    routes: Arc<Routes>,
    activity: Arc<Activity>,
    crowded: bool,
    request: Request<Incoming>,
) -> Result<Response<ResponseBody>, TooManyRequests> {
    let service = &routes.service;
    let http2 = request.version() > Version::HTTP_11;
    let running = activity.begin(http2);
    // A connection of HTTP/1 has one request at a time; streams of HTTP/2 need a limit of their own.
    let permit = if http2 {
        let permit = Arc::clone(&routes.requests).try_acquire_owned();
        Some(permit.map_err(|_| {
            service.rejected(Overloaded::CODE);
            TooManyRequests
        })?)
    } else {
        None
    };
    if http2 && (crowded || service.is_draining()) {
        activity.leave.notify_one();
    }
    let is_probe = operations::is_operation(request.uri().path());
    let mut response = if crowded && !is_probe {
        service.rejected(Overloaded::CODE);
        answer::overloaded(Overloaded::Server)
    } else if request.version() == Version::HTTP_11 && request.headers().get_all(HOST).iter().count() != 1 {
        service.rejected("bad_request");
        let message = "a request must have one header Host";
        answer::refusal(StatusCode::BAD_REQUEST, "bad_request", message)
    } else if let Some(guard) = routes.guard.as_ref().filter(|_| !is_probe)
        && let Err(message) = guard.check(request.uri(), request.headers())
    {
        service.rejected(answer::FORBIDDEN);
        answer::forbidden(message)
    } else {
        match routes.router.call(request).await {
            Ok(response) => response,
            Err::<_, Infallible>(never) => match never {},
        }
    };
    // HTTP/2 says it in another way.
    if !http2 && (crowded || service.is_draining()) {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
    }
    drop(running);
    let unwritten = permit.map(|permit| (activity.respond(), permit));
    Ok(response.map(|body| ResponseBody { body, unwritten }))
}

/// There are too many requests on the connections of HTTP/2. The stream is reset.
#[derive(Debug)]
pub(super) struct TooManyRequests;

impl fmt::Display for TooManyRequests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("too many requests are being served")
    }
}

impl Error for TooManyRequests {}

/// The body of a response. Over HTTP/2 the last part of it keeps the permit of its request until it is written.
pub(super) struct ResponseBody {
    body: Body,
    unwritten: Option<(Unwritten, OwnedSemaphorePermit)>,
}

/// The last part of a response.
struct Last {
    bytes: Bytes,
    _unwritten: (Unwritten, OwnedSemaphorePermit),
}

impl AsRef<[u8]> for Last {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let is_last = self.unwritten.is_some() && self.body.is_end_stream();
        let Some(unwritten) = is_last.then(|| self.unwritten.take()).flatten() else {
            return Poll::Ready(frame);
        };
        let last = |bytes| {
            Bytes::from_owner(Last {
                bytes,
                _unwritten: unwritten,
            })
        };
        Poll::Ready(frame.map(|frame| frame.map(|frame| frame.map_data(last))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
