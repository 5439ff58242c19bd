//! Servers on real sockets.

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::http::{HttpServer, ServeOptions};

/// A server on a free port of the loopback address, for end-to-end tests.
///
/// It uses the runtime of the test, and stops when it is dropped.
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
    done: JoinHandle<io::Result<()>>,
}

impl TestServer {
    /// Serves over HTTP. Returns when the server listens.
    ///
    /// # Errors
    ///
    /// No port of the loopback address can be opened.
    pub async fn http(host: HttpServer) -> io::Result<Self> {
        Self::start(|listener, options, stopped| crate::http::serve(host, listener, options, stopped)).await
    }

    /// Serves MCP over streamable HTTP at `{url}/mcp`. Returns when the server listens. Needs feature `mcp-http`.
    ///
    /// # Errors
    ///
    /// Those of [`http`](Self::http).
    #[cfg(feature = "mcp-http")]
    pub async fn mcp_http(host: crate::mcp::http::McpHttpServer) -> io::Result<Self> {
        Self::start(|listener, options, stopped| crate::mcp::http::serve(host, listener, options, stopped))
            .await
    }

    async fn start<S>(
        serve: impl FnOnce(TcpListener, ServeOptions, WaitForCancellationFutureOwned) -> S,
    ) -> io::Result<Self>
    where
        S: Future<Output = io::Result<()>> + Send + 'static,
    {
        let stop = CancellationToken::new();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let served = serve(listener, ServeOptions::default(), stop.clone().cancelled_owned());
        let done = tokio::spawn(served);
        Ok(Self { address, stop, done })
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as a URL without a path: `http://127.0.0.1:…`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Shuts down gracefully: stops listening, and waits for running calls.
    ///
    /// # Errors
    ///
    /// The server failed while it ran.
    pub async fn stop(mut self) -> io::Result<()> {
        self.stop.cancel();
        (&mut self.done).await?
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.done.abort();
    }
}
