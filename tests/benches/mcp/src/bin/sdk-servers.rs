//! The servers of the SDK with the same call as a skill: `sdk-servers local`, `mcp-stdio` or `mcp-http`.

#![allow(
    clippy::unused_async,
    reason = "the signatures of the skills are what is measured"
)]

use std::error::Error;
use std::future::pending;
use std::io;
use std::time::Duration;

use skill_sdk::host::stdio;
use skill_sdk::http::ServeOptions;
use skill_sdk::local::{self, LocalServer};
use skill_sdk::mcp::http::{self as mcp_http, McpHttpServer};
use skill_sdk::mcp::{McpServer, StdioOptions, serve_stdio};
use skill_sdk::pipeline::{SkillSet, install_panic_hook};
use skill_sdk::skill;
use skill_sdk_bench_mcp::{Order, Quote, pin, quote};
use tokio::fs::File;
use tokio::net::TcpListener;

/// A quote, from an asynchronous function.
#[skill("bench.quote", version = "1", side_effects = "none", risk = "low")]
async fn waiting(inputs: Order) -> Quote {
    quote(inputs)
}

/// A quote, from a synchronous function.
#[skill("bench.blocking", version = "1", side_effects = "none", risk = "low")]
fn blocking(inputs: Order) -> Quote {
    quote(inputs)
}

/// Waits for a while.
#[skill(
    "bench.slow",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 3600
)]
async fn slow() {
    tokio::time::sleep(Duration::from_mins(30)).await;
}

/// Blocks a worker thread forever.
#[skill(
    "bench.spin",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 3600
)]
async fn spin() {
    loop {
        std::hint::spin_loop();
    }
}

/// Blocks its own thread.
#[skill(
    "bench.block",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 3600
)]
fn block() {
    loop {
        std::thread::park();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    pin()?;
    let how = std::env::args().nth(1).unwrap_or_default();
    install_panic_hook();
    let host = SkillSet::collect()?;
    if how == "local" {
        let protocol = stdio::take()?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()?;
        let (input, output) = (File::from_std(protocol.input), File::from_std(protocol.output));
        let served = local::serve(LocalServer::new(host), input, output, pending());
        return Ok(runtime.block_on(served)?);
    }
    // One worker, as the plain server has. With a skill that blocks its worker there must be more.
    let workers = if how == "mcp-stdio-crowd" { 8 } else { 1 };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?;
    let host = McpServer::new(host)?;
    if how == "mcp-http" {
        let mcp = McpHttpServer::anonymous(host);
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await?;
            println!("listening on http://{}", listener.local_addr()?);
            mcp_http::serve(mcp, listener, ServeOptions::default(), pending()).await
        })?;
        return Ok(());
    }
    let protocol = stdio::take()?;
    let served = serve_stdio(
        host,
        File::from_std(protocol.input),
        File::from_std(protocol.output),
        StdioOptions::default(),
        pending(),
    );
    runtime.block_on(served).map_err(io::Error::into)
}
