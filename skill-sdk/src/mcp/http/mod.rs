//! Streamable HTTP: the MCP endpoint at `/mcp`, with sessions only where they are asked for.
//!
//! A response is one JSON document; it is a stream of events only when something is sent before the result (progress, log
//! messages, a question in a session) or when the call takes long.

mod config;
mod headers;
mod metadata;
mod post;
mod routes;
mod sessions;
mod stream;

use std::future::Future;
use std::net::SocketAddr;

pub use self::config::McpHttpServer;
pub use self::routes::router;
use crate::http::auth::warm_up;
use crate::http::server::run;
use crate::http::{BindError, ServeOptions};

/// The path of the endpoint. With a slash behind it, it is the same.
pub(crate) const PATH: &str = "/mcp";

/// Serves until `stop` resolves, then lets running calls finish within the drain time.
///
/// `bound` is called once with the address that is really bound.
pub async fn serve(
    mcp: McpHttpServer,
    options: ServeOptions,
    bound: impl FnOnce(SocketAddr),
    stop: impl Future<Output = ()>,
) -> Result<(), BindError> {
    let service = mcp.http.service().clone();
    let _warming = warm_up(&mcp.http);
    let anonymous = mcp.http.is_anonymous();
    run(router(mcp), service, &options, anonymous, None, bound, stop).await
}
