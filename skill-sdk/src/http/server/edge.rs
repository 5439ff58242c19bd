//! What every request passes, whatever the routes are: it counts requests, and speaks for a server that is full or stops.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request, Response, Version};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::Service;
use hyper_util::service::{TowerToHyperService, TowerToHyperServiceFuture};

use crate::http::answer;
use crate::http::operation::{Operation, Refusal, is_of_operation};

/// What goes on on one connection.
pub(super) struct Traffic {
    operation: Operation,
    /// Requests that are served now, to the last byte of their answers.
    active: AtomicUsize,
    /// Requests that began since the connection was opened.
    begun: AtomicUsize,
}

impl Traffic {
    pub(super) fn new(operation: Operation) -> Self {
        Self {
            operation,
            active: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
        }
    }

    /// Whether a request is being served.
    pub(super) fn is_active(&self) -> bool {
        self.active.load(Ordering::Relaxed) > 0
    }

    /// How many requests began.
    pub(super) fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }
}

/// One request, while it is served.
pub(super) struct Active(Arc<Traffic>);

impl Active {
    fn new(traffic: &Arc<Traffic>) -> Self {
        traffic.begun.fetch_add(1, Ordering::Relaxed);
        traffic.active.fetch_add(1, Ordering::Relaxed);
        traffic.operation.lifecycle().request_begins();
        Self(Arc::clone(traffic))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Relaxed);
        self.0.operation.lifecycle().request_ends();
    }
}

/// The service of one connection.
pub(super) struct Edge {
    routes: TowerToHyperService<Router>,
    traffic: Arc<Traffic>,
    /// There are too many connections: only who runs the host is answered.
    crowded: bool,
}

impl Edge {
    pub(super) fn new(router: Router, traffic: Arc<Traffic>, crowded: bool) -> Self {
        Self {
            routes: TowerToHyperService::new(router),
            traffic,
            crowded,
        }
    }
}

impl Service<Request<Incoming>> for Edge {
    type Response = Response<Served>;
    type Error = Infallible;
    type Future = Serving;

    fn call(&self, request: Request<Incoming>) -> Serving {
        let active = Active::new(&self.traffic);
        let version = request.version();
        let work = if self.crowded && !is_of_operation(request.uri().path()) {
            self.traffic.operation.refused(Refusal::HostFull.code());
            None
        } else {
            Some(self.routes.call(request))
        };
        Serving {
            work,
            active: Some(active),
            // HTTP/2 says it in another way.
            may_close: version <= Version::HTTP_11,
            crowded: self.crowded,
        }
    }
}

/// A request on its way to its answer.
pub(super) struct Serving {
    /// `None`: there are too many connections.
    work: Option<TowerToHyperServiceFuture<Router, Request<Incoming>>>,
    /// `None` once it is answered.
    active: Option<Active>,
    may_close: bool,
    crowded: bool,
}

impl Future for Serving {
    type Output = Result<Response<Served>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut response = match &mut self.work {
            Some(routed) => ready!(Pin::new(routed).poll(cx))?,
            None => answer::refused(Refusal::HostFull),
        };
        let stopping = |active: &Active| active.0.operation.lifecycle().is_draining();
        if self.may_close && (self.crowded || self.active.as_ref().is_some_and(stopping)) {
            response
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let active = self.active.take();
        Poll::Ready(Ok(response.map(|body| Served {
            body,
            _active: active,
        })))
    }
}

/// The body of an answer; its request is being served until it is written.
pub(super) struct Served {
    body: Body,
    _active: Option<Active>,
}

impl HttpBody for Served {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
