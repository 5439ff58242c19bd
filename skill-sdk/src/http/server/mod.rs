//! The server: binding, connections, graceful shutdown.

mod connection;
mod listen;
mod ops;
mod response;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use self::listen::Listening;
use self::response::Routes;
use super::auth::warm_up;
use super::{HttpServer, router};
use crate::serve::{Guard, Service};

/// How long the server keeps responding after the last call, so that requests on their way get a 503 and not a reset.
const SETTLE: Duration = Duration::from_millis(50);

/// How long connections may take to close once all calls have ended or the drain timeout has passed.
const GOODBYE: Duration = Duration::from_secs(1);

/// How to serve.
#[derive(Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// Whether to serve addresses other than loopback when callers need no token. The default is `false`.
    pub anonymous_anywhere: bool,
    /// The management port, which serves `/healthz`, `/readyz` and `/metrics` without a token, from a thread of its own. The
    /// default is `None`.
    pub ops: Option<std::net::TcpListener>,
    /// How long running calls may take to finish once the server is told to stop. The default is 30 s.
    pub drain: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            anonymous_anywhere: false,
            ops: None,
            drain: Duration::from_secs(30),
        }
    }
}

impl ServeOptions {
    /// The address of a listener, if it may be served to callers without a token or `anonymous` is false.
    pub(crate) fn address(&self, listener: &TcpListener, anonymous: bool) -> io::Result<SocketAddr> {
        let address = listener.local_addr()?;
        if !anonymous || self.anonymous_anywhere || address.ip().to_canonical().is_loopback() {
            return Ok(address);
        }
        let message = format!(
            "anonymous callers are allowed on loopback addresses only, and {address} is none; \
             bind 127.0.0.1, or allow it with --allow-anonymous=anywhere"
        );
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    }
}

/// Serves until `stop` resolves, then lets running calls finish within the drain timeout.
///
/// Meanwhile the server still accepts connections: new calls are rejected with a retryable 503, and `/readyz` reports that the
/// server is stopping. Calls that still run after the drain timeout are cancelled and get the same response.
///
/// # Errors
///
/// Callers need no token and the address of the listener can be reached from outside; or the management port cannot be
/// served.
pub async fn serve(
    host: HttpServer,
    listener: TcpListener,
    options: ServeOptions,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let service = host.service().clone();
    let _warming = warm_up(&host);
    let anonymous = host.is_anonymous();
    let guard = anonymous.then(|| host.guard().clone());
    run(router(host), service, listener, options, anonymous, guard, stop).await
}

/// Serves any routes with the limits and the shutdown of `service`; see [`serve`]. `anonymous`: callers need no token.
/// `guard`: rejects requests from foreign web pages on a loopback address, unless the routes have one of their own.
pub(crate) async fn run(
    router: Router,
    service: Service,
    listener: TcpListener,
    options: ServeOptions,
    anonymous: bool,
    guard: Option<Arc<Guard>>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let address = options.address(&listener, anonymous)?;
    let ops = options
        .ops
        .map(|listener| ops::OpsServer::start(listener, service.clone()));
    let _ops = ops.transpose()?;
    let served = Routes {
        router: TowerToHyperService::new(router),
        guard: guard.filter(|_| address.ip().to_canonical().is_loopback()),
        requests: Arc::new(Semaphore::new(
            service.limits().max_requests.min(Semaphore::MAX_PERMITS),
        )),
        service: service.clone(),
    };
    let mut listening = Listening::new(listener, served);
    listening.until(stop).await;

    service.drain();
    listening.leave();
    tracing::info!(
        seconds = options.drain.as_secs(),
        "stopping: running calls may finish"
    );
    let finished = async {
        service.idle().await;
        sleep(SETTLE).await;
        service.idle().await;
    };
    let in_time = listening.until(timeout(options.drain, finished)).await.is_ok()
        || timeout(Duration::ZERO, service.idle()).await.is_ok();
    if !in_time {
        tracing::warn!("the drain timeout passed: calls that still run are cancelled");
    }
    // Bodies that are still received are not waited for either.
    service.cut().cancel();
    let mut written = true;
    if !in_time {
        written = listening.until(timeout(GOODBYE, service.idle())).await.is_ok();
    }
    let closed = timeout(GOODBYE, listening.close(SETTLE)).await.is_ok();
    if !closed || !written {
        tracing::warn!("connections whose clients did not read their responses are closed");
    }
    Ok(())
}
