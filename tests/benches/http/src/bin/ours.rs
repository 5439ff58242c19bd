//! The HTTP server of the SDK with the skills of the benchmark.

#![allow(clippy::unused_async, reason = "an `async fn` needs no thread of its own")]

use std::io;
use std::process::ExitCode;

use skill_sdk::http::{HttpServer, ServeOptions, serve};
use skill_sdk::pipeline::{SkillSet, install_panic_hook};
use skill_sdk::skill;
use skill_sdk_bench_http::model::{self, Order, Quote, RuledOrder, RuledQuote};
use skill_sdk_bench_http::start;

/// A quote whose contract comes from the types alone.
#[skill("bench.derived", version = "1", side_effects = "none", risk = "low")]
async fn derived(inputs: Order) -> Quote {
    model::quote(inputs)
}

/// A quote whose contract also constrains values.
#[skill("bench.ruled", version = "1", side_effects = "none", risk = "low")]
async fn ruled(inputs: RuledOrder) -> RuledQuote {
    model::ruled_quote(inputs)
}

/// With arguments it runs as in production, with everything that `serve http` does: authentication, logging, limits.
/// Without arguments it runs `HttpServer` alone.
fn main() -> ExitCode {
    if std::env::args().len() > 1 {
        return match start::pin() {
            Ok(()) => skill_sdk::host::main(),
            Err(error) => failed(&error),
        };
    }
    host().map_or_else(|error| failed(&error), |()| ExitCode::SUCCESS)
}

fn failed(error: &io::Error) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}

fn host() -> io::Result<()> {
    install_panic_hook();
    let host = SkillSet::collect().map_err(io::Error::other)?;
    start::run(async {
        let (server, listener) = (HttpServer::anonymous(host), start::listen().await?);
        serve(server, listener, ServeOptions::default(), std::future::pending()).await
    })
}
