//! Bearer tokens as callers and issuers see them, over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]
#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "the signatures of the skills are part of the tests"
)]

mod docs;
mod identity_provider;
mod keys;
mod process;
mod recorded;
mod rejection_reasons;
mod server;
mod slow_issuer;

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

/// Clocks that the test controls.
#[derive(Clone)]
struct ManualClock {
    start: Instant,
    ahead: Arc<AtomicI64>,
    seconds: Arc<AtomicU64>,
}

impl ManualClock {
    /// Advances the clock for the age of keys.
    fn age_keys(&self, seconds: u64) {
        self.seconds.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Advances the clock for the claims of tokens.
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

/// A verifier of the issuer's tokens with clocks that the test controls.
fn verifier_with_clock(issuer: &TestIssuer) -> (Verifier, ManualClock) {
    let clock = ManualClock {
        start: Instant::now(),
        ahead: Arc::default(),
        seconds: Arc::default(),
    };
    let verifier = Verifier::with_clock(issuer.settings(), clock.clone()).unwrap();
    (verifier, clock)
}

/// A server of these skills.
fn hosted(skills: &[&'static Skill], verifier: Verifier) -> HttpServer {
    let host = SkillSet::with_states(skills.iter().copied(), States::default());
    HttpServer::new(host.expect("the skills are usable"), verifier)
}

/// Serves only the routes of the server: keys are fetched when a request needs them.
async fn mounted(http: HttpServer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router(http)).await });
    address
}
