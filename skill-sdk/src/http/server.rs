//! The server: binding, connections, drain.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream, lookup_host};
use tokio::task::JoinSet;

use super::opening::Opening;
use super::{HttpHost, router};

/// How long a client may take to begin, and then to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the server waits after the system refused a connection, for example because it has too many files open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Where and how to serve.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServeOptions {
    /// The address to bind: a name or an IP address.
    pub host: String,
    /// The port to bind. 0: any free one.
    pub port: u16,
    /// Whether addresses beyond loopback may be bound when callers need no token.
    pub anonymous_anywhere: bool,
    /// How long running calls may take to finish once the server is told to stop.
    pub drain: Duration,
}

impl ServeOptions {
    /// Serves at `host` and `port`, without tokens on loopback addresses only; running calls have 30 seconds to finish.
    pub fn new(host: impl Into<String>, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
            anonymous_anywhere: false,
            drain: Duration::from_secs(30),
        }
    }
}

/// Why the server did not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum BindError {
    /// Callers need no token, and the address can be reached from outside.
    NotLoopback(SocketAddr),
    /// The address cannot be bound.
    Io {
        /// What was to be bound.
        address: String,
        /// Why it cannot be.
        source: io::Error,
    },
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotLoopback(address) => write!(
                f,
                "anonymous callers are allowed on loopback addresses only, and {address} is none; \
                 bind 127.0.0.1, or allow it with --allow-anonymous=anywhere"
            ),
            Self::Io { address, source } => write!(f, "cannot listen on {address}: {source}"),
        }
    }
}

impl Error for BindError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotLoopback(_) => None,
            Self::Io { source, .. } => Some(source),
        }
    }
}

/// Serves until `stop` resolves, then lets running calls finish within the drain time.
///
/// `bound` is called once with the address that is really bound.
pub async fn serve(
    host: HttpHost,
    options: ServeOptions,
    bound: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), BindError> {
    let listener = bind(&options, host.verifier().is_none()).await?;
    let address = listener
        .local_addr()
        .map_err(|source| io_error(&options, source))?;
    bound(address);

    let warming = host.verifier().cloned().map(|verifier| async move {
        // So that the first caller does not wait, and `/readyz` tells the truth.
        verifier.warm_up().await;
    });
    let service = TowerToHyperService::new(router(host));
    let connections = GracefulShutdown::new();
    // Those that are left when this function ends are given up.
    let mut running = JoinSet::new();
    if let Some(warming) = warming {
        running.spawn(warming);
    }
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(200);

    let mut stop = std::pin::pin!(stop);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            },
            Some(_) = running.join_next() => continue,
            () = &mut stop => break,
        };
        let connection = builder
            .serve_connection(prepared(stream), service.clone())
            .into_owned();
        let connection = connections.watch(connection);
        running.spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(error, "a connection ended early");
            }
        });
    }
    drop(listener);
    tracing::info!(
        seconds = options.drain.as_secs(),
        "stopping: running calls may finish"
    );
    if tokio::time::timeout(options.drain, connections.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("the drain time is up, calls that still run are given up");
    }
    Ok(())
}

fn prepared(stream: TcpStream) -> TokioIo<Opening<TcpStream>> {
    // Answers are small and complete: waiting to fill a packet only adds latency.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY was not set");
    }
    TokioIo::new(Opening::new(stream, HEADER_TIMEOUT))
}

async fn bind(options: &ServeOptions, anonymous: bool) -> Result<TcpListener, BindError> {
    let addresses: Vec<SocketAddr> = lookup_host((options.host.as_str(), options.port))
        .await
        .map_err(|source| io_error(options, source))?
        .collect();
    if anonymous
        && !options.anonymous_anywhere
        && let Some(open) = addresses
            .iter()
            .find(|address| !address.ip().to_canonical().is_loopback())
    {
        return Err(BindError::NotLoopback(*open));
    }
    TcpListener::bind(addresses.as_slice())
        .await
        .map_err(|source| io_error(options, source))
}

fn io_error(options: &ServeOptions, source: io::Error) -> BindError {
    BindError::Io {
        address: format!("{}:{}", options.host, options.port),
        source,
    }
}
