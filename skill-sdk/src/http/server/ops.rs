//! The management port: `/healthz`, `/readyz` and `/metrics` from a thread of its own, independent of what skills do.

use std::io;
use std::net::TcpListener as StdListener;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::http::operations;
use crate::serve::Service;

/// How long `/readyz` waits for the threads that serve.
const PATIENCE: Duration = Duration::from_secs(1);

/// The server of a management port. It stops when this is dropped.
#[derive(Debug)]
pub(super) struct OpsServer(
    #[expect(dead_code, reason = "dropping it stops the server")] oneshot::Sender<()>,
);

impl OpsServer {
    /// Serves the operations of a service, which runs on the current runtime.
    pub(super) fn start(listener: StdListener, service: Service) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let router = router(service, Handle::current());
        let serve = async move {
            let served = async {
                let listener = TcpListener::from_std(listener)?;
                axum::serve(listener, router).await
            };
            tokio::select! {
                served = served => if let Err(error) = served {
                    tracing::error!(%error, "the management port is not served any more");
                },
                _ = stopped => {}
            }
        };
        std::thread::Builder::new()
            .name("skill-sdk-ops".to_owned())
            .spawn(move || runtime.block_on(serve))?;
        tracing::info!(%address, "serving /healthz, /readyz and /metrics");
        Ok(Self(stop))
    }
}

/// Readiness is checked on the runtime that serves, since it may build states there.
fn router(service: Service, serving: Handle) -> Router {
    let ready = async move |State(service): State<Service>| -> Response {
        let asked = serving.spawn(async move { operations::ready(State(service)).await });
        match timeout(PATIENCE, asked).await {
            Ok(Ok(response)) => response,
            _ => operations::not_ready("busy", "the threads that serve are busy"),
        }
    };
    let metrics = async |State(service): State<Service>| operations::metrics(&service);
    Router::new()
        .route(operations::HEALTH, get(operations::health))
        .route(operations::READY, get(ready))
        .route(operations::METRICS, get(metrics))
        .with_state(service)
}
