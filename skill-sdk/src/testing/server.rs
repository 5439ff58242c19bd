//! Hosts on real sockets.

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::http::{BindError, HttpServer, ServeOptions};

/// What is told where the server listens.
type Bound = Box<dyn FnOnce(SocketAddr) + Send>;

/// A server on a free port of the loopback address, for tests from end to end.
///
/// It needs the runtime of the test, and stops when it is dropped.
///
/// ```
/// use serde_json::json;
/// use skill_sdk::http::HttpServer;
/// use skill_sdk::pipeline::SkillSet;
/// use skill_sdk::testing::TestServer;
/// use skill_sdk::{Registry, skill};
///
/// /// Doubles a number.
/// #[skill("number.double", version = "1", side_effects = "none", risk = "low")]
/// fn double(number: i32) -> i32 {
///     number * 2
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let host = SkillSet::new(&Registry::from_skills([double::SKILL])?)?;
/// let server = TestServer::http(HttpServer::anonymous(host)).await?;
/// assert!(server.url().starts_with("http://127.0.0.1:"));
/// // Call `{url}/skills/number.double@1` with any client …
/// server.stop().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TestServer {
    address: SocketAddr,
    stop: CancellationToken,
    done: JoinHandle<Result<(), BindError>>,
}

impl TestServer {
    /// Serves over HTTP, and gives the server once it listens.
    pub async fn http(host: HttpServer) -> Result<Self, BindError> {
        Self::start(|options, bound, stopped| crate::http::serve(host, options, bound, stopped)).await
    }

    /// Serves over streamable HTTP of MCP, and gives the server once it listens. The endpoint is `{url}/mcp`. Needs feature
    /// `mcp-http`.
    #[cfg(feature = "mcp-http")]
    pub async fn mcp_http(host: crate::mcp::http::McpHttpServer) -> Result<Self, BindError> {
        Self::start(|options, bound, stopped| crate::mcp::http::serve(host, options, bound, stopped)).await
    }

    async fn start<S>(
        serve: impl FnOnce(ServeOptions, Bound, WaitForCancellationFutureOwned) -> S,
    ) -> Result<Self, BindError>
    where
        S: Future<Output = Result<(), BindError>> + Send + 'static,
    {
        let (bound, address) = oneshot::channel();
        let stop = CancellationToken::new();
        let bound = Box::new(move |address| {
            // A test that went away needs no server.
            let _ = bound.send(address);
        });
        let options = ServeOptions::new("127.0.0.1", 0);
        let done = tokio::spawn(serve(options, bound, stop.clone().cancelled_owned()));
        match address.await {
            Ok(address) => Ok(Self { address, stop, done }),
            Err(_) => Err(ended(done.await)
                .err()
                .unwrap_or_else(|| failed("it ended by itself"))),
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as a URL without a path: `http://127.0.0.1:…`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops listening, lets running calls finish, and waits for the end.
    pub async fn stop(mut self) -> Result<(), BindError> {
        self.stop.cancel();
        ended((&mut self.done).await)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.done.abort();
    }
}

fn ended(outcome: Result<Result<(), BindError>, JoinError>) -> Result<(), BindError> {
    outcome.unwrap_or_else(|error| Err(failed(error)))
}

fn failed(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> BindError {
    BindError::Io {
        address: "127.0.0.1".to_owned(),
        source: io::Error::other(why),
    }
}
