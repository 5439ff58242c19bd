//! What every request passes, whatever the routes are: it counts requests, and speaks for a server that is full or stops.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use axum::Router;
use axum::body::Body;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::Service as HyperService;
use hyper_util::service::{TowerToHyperService, TowerToHyperServiceFuture};
use tokio::sync::Notify;

use super::served::{Served, Unsent};
use crate::http::{answer, operations};
use crate::serve::{Overloaded, Service};

/// What goes on on one connection.
pub(super) struct Traffic {
    pub(super) service: Service,
    /// Requests that are served now, until the last part of their answers is on its way.
    active: AtomicUsize,
    /// Requests that began since the connection was opened.
    begun: AtomicUsize,
    /// How often the client took something of an answer.
    taken: AtomicUsize,
    /// How many bytes of answers of HTTP/2 are on their way.
    sent: AtomicUsize,
    /// Whether there was a request of HTTP/2.
    multiplexed: AtomicBool,
    /// Told when the client of HTTP/2 has to go elsewhere with its next requests.
    leave: Notify,
    /// Whether the client is not waited for any more.
    given_up: AtomicBool,
}

impl Traffic {
    pub(super) fn new(service: Service) -> Self {
        Self {
            service,
            active: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            taken: AtomicUsize::new(0),
            sent: AtomicUsize::new(0),
            multiplexed: AtomicBool::new(false),
            leave: Notify::new(),
            given_up: AtomicBool::new(false),
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

    /// A number that is another one when the client got on: with a request or with an answer.
    pub(super) fn pulse(&self) -> usize {
        self.begun().wrapping_add(self.taken.load(Ordering::Relaxed))
    }

    /// The client took something of an answer.
    pub(super) fn took(&self) {
        self.taken.fetch_add(1, Ordering::Relaxed);
    }

    /// So many bytes of an answer of HTTP/2 are on their way.
    pub(super) fn sends(&self, count: usize) {
        self.sent.fetch_add(count, Ordering::Relaxed);
    }

    /// How many bytes of all answers of HTTP/2 are on their way, of which only differences say something.
    pub(super) fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }

    /// Whether the client is known to speak HTTP/2.
    pub(super) fn is_multiplexed(&self) -> bool {
        self.multiplexed.load(Ordering::SeqCst)
    }

    /// Resolves when the client of HTTP/2 has to be told to go elsewhere. For one waiter.
    pub(super) async fn leaves(&self) {
        self.leave.notified().await;
    }

    /// The client of HTTP/2 does not take what it asked for.
    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::SeqCst);
        self.leave.notify_one();
    }

    /// Resolves when the client is not waited for any more. For one waiter, who has no other use for [`leaves`](Self::leaves).
    pub(super) async fn given_up(&self) {
        while !self.given_up.load(Ordering::SeqCst) {
            self.leave.notified().await;
        }
    }
}

/// One request, while it is served.
pub(super) struct Active(Option<Unsent>);

impl Active {
    fn new(traffic: &Arc<Traffic>) -> Self {
        traffic.begun.fetch_add(1, Ordering::Relaxed);
        traffic.active.fetch_add(1, Ordering::Relaxed);
        Self(Some(Unsent::new(traffic)))
    }

    pub(super) fn traffic(&self) -> Option<&Arc<Traffic>> {
        self.0.as_ref().map(Unsent::traffic)
    }

    /// The host does not stop before what is returned is dropped.
    pub(super) fn unsent(&self) -> Option<Unsent> {
        self.0.as_ref().map(Unsent::again)
    }

    /// The request is served, but for what goes with the last part of its answer.
    pub(super) fn served(mut self) -> Option<Unsent> {
        self.leave()
    }

    fn leave(&mut self) -> Option<Unsent> {
        let unsent = self.0.take()?;
        unsent.traffic().active.fetch_sub(1, Ordering::Relaxed);
        Some(unsent)
    }

    fn is_stopping(&self) -> bool {
        let is_draining = |traffic: &Arc<Traffic>| traffic.service.shutdown().is_draining();
        self.traffic().is_some_and(is_draining)
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        drop(self.leave());
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

impl HyperService<Request<Incoming>> for Edge {
    type Response = Response<Served>;
    type Error = Infallible;
    type Future = Serving;

    fn call(&self, request: Request<Incoming>) -> Serving {
        let active = Active::new(&self.traffic);
        let multiplexed = request.version() > Version::HTTP_11;
        if multiplexed {
            // Before the look at the lifecycle: a server that begins to stop looks in the other order.
            self.traffic.multiplexed.store(true, Ordering::SeqCst);
            if self.crowded || active.is_stopping() {
                self.traffic.leave.notify_one();
            }
        }
        let work = if self.crowded && !operations::is_operation(request.uri().path()) {
            self.traffic.service.rejected(Overloaded::Server.code());
            None
        } else {
            Some(self.routes.call(request))
        };
        Serving {
            work,
            active: Some(active),
            multiplexed,
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
    multiplexed: bool,
    crowded: bool,
}

impl Future for Serving {
    type Output = Result<Response<Served>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut response: Response<Body> = match &mut self.work {
            Some(routed) => ready!(Pin::new(routed).poll(cx))?,
            None => answer::overloaded(Overloaded::Server),
        };
        // HTTP/2 says it in another way.
        if !self.multiplexed && (self.crowded || self.active.as_ref().is_some_and(Active::is_stopping)) {
            response
                .headers_mut()
                .insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let (active, multiplexed) = (self.active.take(), self.multiplexed);
        Poll::Ready(Ok(response.map(|body| Served::new(body, active, multiplexed))))
    }
}
