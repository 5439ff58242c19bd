//! Bearer tokens as callers and issuers see them, over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic of a test program is a failed test"
)]
#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "skills have the shape that is tested"
)]

mod cases;
mod host;
mod keys;
mod page;
mod program;
mod provider;
mod reasons;
mod slow;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use skill_sdk::Skill;
use skill_sdk::auth::{Clock, SystemClock, Verifier};
use skill_sdk::context::States;
use skill_sdk::http::{HttpServer, router};
use skill_sdk::pipeline::SkillSet;
use skill_sdk::testing::TestIssuer;
use tokio::net::TcpListener;

/// Clocks that a test moves.
#[derive(Clone)]
struct ManualClock {
    start: Instant,
    ahead: Arc<AtomicI64>,
    seconds: Arc<AtomicU64>,
}

impl ManualClock {
    /// Moves the clock for the age of keys.
    fn age_keys(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Moves the clock for the claims of tokens.
    fn age_tokens(&self, seconds: i64) {
        self.ahead.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn unix_seconds(&self) -> i64 {
        SystemClock.unix_seconds() + self.ahead.load(Ordering::Relaxed)
    }

    fn now(&self) -> Instant {
        self.start + Duration::from_secs(self.seconds.load(Ordering::Relaxed))
    }
}

/// A verifier of the issuer's tokens whose clocks the test moves.
fn clocked(issuer: &TestIssuer) -> (Verifier, ManualClock) {
    let clock = ManualClock {
        start: Instant::now(),
        ahead: Arc::default(),
        seconds: Arc::default(),
    };
    let verifier = Verifier::with_clock(issuer.settings(), clock.clone()).unwrap();
    (verifier, clock)
}

/// A host of these skills.
fn hosted(skills: &[&'static Skill], verifier: Verifier) -> HttpServer {
    let host = SkillSet::with_states(skills.iter().copied(), States::default());
    HttpServer::new(host.expect("the skills are usable"), verifier)
}

/// Serves the routes of the host and nothing else: keys are fetched when a request asks for them.
async fn mounted(http: HttpServer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router(http)).await });
    address
}
