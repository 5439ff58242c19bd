//! Hosts on real sockets.

use std::future::{Future, pending};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::http::{BindError, HttpServer, ServeOptions};

/// What is told where the server listens.
type Bound = Box<dyn FnOnce(SocketAddr) + Send>;

/// Resolves when the server must stop.
type Stopped = Pin<Box<dyn Future<Output = ()> + Send>>;

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
    stop: Option<oneshot::Sender<()>>,
    done: JoinHandle<Result<(), BindError>>,
}

impl TestServer {
    /// Serves over HTTP, and gives the server once it listens.
    pub async fn http(host: HttpServer) -> Result<Self, BindError> {
        Self::start(|bound, stopped| {
            let options = ServeOptions::new("127.0.0.1", 0);
            tokio::spawn(crate::http::serve(host, options, bound, stopped))
        })
        .await
    }

    /// Serves over streamable HTTP of MCP, and gives the server once it listens. The endpoint is `{url}/mcp`. Needs feature
    /// `mcp-http`.
    #[cfg(feature = "mcp-http")]
    pub async fn mcp_http(host: crate::mcp::http::McpHttpServer) -> Result<Self, BindError> {
        Self::start(|bound, stopped| {
            let options = ServeOptions::new("127.0.0.1", 0);
            tokio::spawn(crate::mcp::http::serve(host, options, bound, stopped))
        })
        .await
    }

    async fn start(
        serve: impl FnOnce(Bound, Stopped) -> JoinHandle<Result<(), BindError>>,
    ) -> Result<Self, BindError> {
        let (bound, address) = oneshot::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let bound: Bound = Box::new(move |address| {
            // A test that went away needs no server.
            let _ = bound.send(address);
        });
        let stopped: Stopped = Box::pin(async move {
            if stopped.await.is_err() {
                // Nobody can stop it any more but the end of its task.
                pending::<()>().await;
            }
        });
        let mut done = serve(bound, stopped);
        let address = tokio::select! {
            Ok(address) = address => address,
            ended = &mut done => {
                return match ended {
                    Ok(Err(error)) => Err(error),
                    Ok(Ok(())) | Err(_) => Err(ended_early()),
                };
            }
        };
        Ok(Self {
            address,
            stop: Some(stop),
            done,
        })
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
        if let Some(stop) = self.stop.take() {
            // It may have ended by itself.
            let _ = stop.send(());
        }
        (&mut self.done).await.unwrap_or_else(|_| Err(ended_early()))
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.done.abort();
    }
}

fn ended_early() -> BindError {
    BindError::Io {
        address: "127.0.0.1".to_owned(),
        source: io::Error::other("the server ended by itself"),
    }
}
