//! Streamable HTTP: the MCP endpoint at `/mcp`, with sessions only where they are asked for.
//!
//! A response is one JSON document; it is a stream of events only when something is sent before the result (progress, log
//! messages, an elicitation in a session) or when the call takes longer than 10 s.
//!
//! ```standalone_crate
//! use skill_sdk::mcp::McpServer;
//! use skill_sdk::mcp::http::{McpHttpServer, router};
//! use skill_sdk::pipeline::SkillSet;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = McpServer::new(SkillSet::collect()?)?;
//! let app: axum::Router = router(McpHttpServer::anonymous(server).allow_host("agents.example.com")?);
//! # let _ = app;
//! # Ok(())
//! # }
//! ```
//!
//! Guides: `docs/guides/embedding.md`, `docs/guides/deploying.md`. Reference: `docs/reference/mcp.md`.

mod config;
mod headers;
mod metadata;
mod post;
mod routes;
mod sessions;
mod stream;

use std::future::Future;
use std::io;

use tokio::net::TcpListener;

pub use self::config::McpHttpServer;
pub use self::routes::router;
use crate::http::ServeOptions;
use crate::http::auth::warm_up;
use crate::http::server::run;

/// The path of the endpoint. With a slash behind it, it is the same.
pub(crate) const PATH: &str = "/mcp";

/// Serves until `stop` resolves, then lets running calls finish within the drain time; see [`http::serve`](crate::http::serve).
///
/// # Errors
///
/// Those of [`http::serve`](crate::http::serve).
pub async fn serve(
    mcp: McpHttpServer,
    listener: TcpListener,
    options: ServeOptions,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let service = mcp.http.service().clone();
    let _warming = warm_up(&mcp.http);
    let anonymous = mcp.http.is_anonymous();
    run(router(mcp), service, listener, options, anonymous, None, stop).await
}
