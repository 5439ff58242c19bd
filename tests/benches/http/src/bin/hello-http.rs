//! The smallest host: one skill over HTTP. Its size and start are measured.

#![allow(
    clippy::unused_async,
    reason = "skills that wait for nothing need no thread of their own"
)]

use std::io;

use skill_sdk::http::{HttpServer, ServeOptions, serve};
use skill_sdk::pipeline::{SkillSet, install_panic_hook};
use skill_sdk::skill;
use skill_sdk_bench_http::start;

/// Greets somebody by name.
#[skill("hello.greet", version = "1", side_effects = "none", risk = "low")]
async fn greet(
    /// Who is greeted.
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
