//! Binding an address, and why it may not be.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpListener, lookup_host};

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
    /// The address (`HOST:PORT`) of the management port, which serves `/healthz`, `/readyz` and `/metrics` without a token, from a
    /// thread of its own.
    pub ops: Option<String>,
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
            ops: None,
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

/// Listens at the address of `options`, if it may.
pub(super) async fn bind(
    options: &ServeOptions,
    anonymous: bool,
) -> Result<(TcpListener, SocketAddr), BindError> {
    let io_error = |source| BindError::Io {
        address: format!("{}:{}", options.host, options.port),
        source,
    };
    let addresses: Vec<SocketAddr> = lookup_host((options.host.as_str(), options.port))
        .await
        .map_err(io_error)?
        .collect();
    if anonymous
        && !options.anonymous_anywhere
        && let Some(open) = addresses
            .iter()
            .find(|address| !address.ip().to_canonical().is_loopback())
    {
        return Err(BindError::NotLoopback(*open));
    }
    let listener = TcpListener::bind(addresses.as_slice()).await.map_err(io_error)?;
    let address = listener.local_addr().map_err(io_error)?;
    Ok((listener, address))
}
