//! The smallest `rmcp` server with one tool: `plain-rmcp stdio` or `plain-rmcp http`.

use std::error::Error;
use std::sync::Arc;

use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServiceExt, tool, tool_router};
use skill_sdk_bench_mcp::{Order, Quote, pin, quote};

#[derive(Debug, Clone, Copy)]
struct Server;

#[tool_router(server_handler)]
impl Server {
    /// A quote.
    #[tool(name = "bench.quote")]
    async fn quote(&self, Parameters(order): Parameters<Order>) -> Json<Quote> {
        Json(quote(order))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    pin()?;
    let over_http = std::env::args().nth(1).is_some_and(|how| how == "http");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    runtime.block_on(if over_http {
        Box::pin(http()) as Serving
    } else {
        Box::pin(stdio())
    })
}

type Serving = std::pin::Pin<Box<dyn Future<Output = Result<(), Box<dyn Error>>>>>;

async fn stdio() -> Result<(), Box<dyn Error>> {
    Server.serve(rmcp::transport::stdio()).await?.waiting().await?;
    Ok(())
}

async fn http() -> Result<(), Box<dyn Error>> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(None);
    let service: StreamableHttpService<Server, NeverSessionManager> =
        StreamableHttpService::new(|| Ok(Server), Arc::default(), config);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    println!("listening on http://{}", listener.local_addr()?);
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
