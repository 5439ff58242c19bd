//! The server: binding, connections, drain.

mod bind;
mod edge;
mod listen;
mod refused;
mod served;
mod stream;
mod streams;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::net::SocketAddr;

use axum::Router;
use tokio::time::{sleep, timeout, timeout_at};

pub use self::bind::{BindError, ServeOptions};
use self::listen::Listening;
use super::auth::warm_up;
use super::{HttpServer, router};
use crate::pipeline::after;
use crate::serve::Service;

use std::time::Duration;

/// How long the server goes on after the last call, so that requests which are on their way are told to go elsewhere.
const SETTLE: Duration = Duration::from_millis(50);

/// How long connections have to close once there are no requests any more, or no time.
const GOODBYE: Duration = Duration::from_secs(1);

/// Serves until `stop` resolves, then lets running calls finish within the drain time.
///
/// `bound` is called once with the address that is really bound. While calls finish the server goes on listening: new
/// calls are refused with a retryable 503, and `/readyz` says that it is stopping. What still runs when the time is up
/// is cancelled and answered with the same refusal.
pub async fn serve(
    host: HttpServer,
    options: ServeOptions,
    bound: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), BindError> {
    let service = host.service().clone();
    let _warming = warm_up(host.verifier());
    let anonymous = host.verifier().is_none();
    run(router(host), service, &options, anonymous, bound, stop).await
}

/// Serves any routes with the limits and the drain of `service`; see [`serve`]. `anonymous`: callers need no token.
pub(crate) async fn run(
    router: Router,
    service: Service,
    options: &ServeOptions,
    anonymous: bool,
    bound: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), BindError> {
    let (listener, address) = bind::bind(options, anonymous).await?;
    bound(address);
    let mut listening = Listening::new(listener, router, service.clone());
    listening.until(stop).await;

    let shutdown = service.shutdown();
    shutdown.drain();
    listening.leave();
    tracing::info!(
        seconds = options.drain.as_secs(),
        "stopping: running calls may finish"
    );
    let end = after(options.drain);
    let finished = async {
        shutdown.quiet().await;
        sleep(SETTLE).await;
        shutdown.quiet().await;
    };
    let (mut in_time, mut cut) = (false, false);
    listening
        .until(async { in_time = timeout_at(end, finished).await.is_ok() })
        .await;
    // Only requests that came after the drain began are left else, and their bodies are not waited for.
    let is_late = !in_time && !shutdown.is_quiet();
    if is_late {
        tracing::warn!("the drain time is up, calls that still run are given up");
    }
    shutdown.cut_calls();
    if is_late {
        listening
            .until(async { cut = timeout(GOODBYE, shutdown.quiet()).await.is_err() })
            .await;
    }
    let connections = listening.close();
    if timeout(GOODBYE, connections).await.is_err() || cut {
        tracing::warn!("connections whose clients took no answer are given up");
    }
    Ok(())
}
