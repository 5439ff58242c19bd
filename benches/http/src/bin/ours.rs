//! The HTTP host of the SDK with the skills of the benchmark.

#![allow(
    clippy::unused_async,
    reason = "skills that wait for nothing need no thread of their own"
)]

use std::io;

use skill_sdk::auth::Verifier;
use skill_sdk::context::Environment;
use skill_sdk::http::{HttpHost, ServeOptions, serve};
use skill_sdk::pipeline::{Host, report_panics_of_skills};
use skill_sdk::skill;
use skill_sdk_bench_http::model::{self, Order, Quote, RuledOrder, RuledQuote};
use skill_sdk_bench_http::start;

/// A quote; the contract is what the types say.
#[skill("bench.derived", version = "1", side_effects = "none", risk = "low")]
async fn derived(inputs: Order) -> Quote {
    model::quote(inputs)
}

/// A quote; the contract has rules on values too.
#[skill("bench.ruled", version = "1", side_effects = "none", risk = "low")]
async fn ruled(inputs: RuledOrder) -> RuledQuote {
    model::ruled_quote(inputs)
}

/// Logs as a host in production does.
fn log() {
    let filter = tracing_subscriber::EnvFilter::new("info");
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr);
    log.json()
        .flatten_event(true)
        .with_current_span(true)
        .with_span_list(false)
        .init();
}

fn main() -> io::Result<()> {
    let production = std::env::args()
        .nth(1)
        .is_some_and(|profile| profile == "production");
    if production {
        log();
    }
    report_panics_of_skills();
    let host = Host::collect().map_err(io::Error::other)?;
    let http = if production {
        let verifier = Verifier::from_environment(&Environment::process()).map_err(io::Error::other)?;
        HttpHost::new(host, verifier)
    } else {
        HttpHost::anonymous(host)
    };
    start::run(async {
        serve(
            http,
            ServeOptions::new("127.0.0.1", 0),
            start::announce,
            std::future::pending(),
        )
        .await
        .map_err(io::Error::other)
    })
}
