//! The smallest server: one skill over HTTP. Its binary size and start time are measured.

#![allow(clippy::unused_async, reason = "an `async fn` needs no thread of its own")]

use std::io;

use skill_sdk::http::{HttpServer, ServeOptions, serve};
use skill_sdk::pipeline::{SkillSet, install_panic_hook};
use skill_sdk::skill;
use skill_sdk_bench_http::start;

/// Greets a person by name.
#[skill("hello.greet", version = "1", side_effects = "none", risk = "low")]
async fn greet(
    /// The name of the person.
    name: String,
) -> String {
    format!("Hello, {name}!")
}

fn main() -> io::Result<()> {
    install_panic_hook();
    let host = SkillSet::collect().map_err(io::Error::other)?;
    start::run(async {
        let (server, listener) = (HttpServer::anonymous(host), start::listen().await?);
        serve(server, listener, ServeOptions::default(), std::future::pending()).await
    })
}
