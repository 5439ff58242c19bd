//! The cost of a bearer token per request: a new token and a cached one, from one thread and from several.
//!
//! It prints figures and judges nothing: only figures of one run can be compared.

#![allow(
    clippy::expect_used,
    reason = "a measurement that fails must stop the program"
)]

use std::hint::black_box;
use std::pin::pin;
use std::sync::Barrier;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use skill_sdk::auth::Verifier;
use skill_sdk::testing::TestIssuer;

/// The duration of one measurement.
const ROUND: Duration = Duration::from_millis(400);

/// The number of rounds. The best round of each figure is reported.
const ROUNDS: usize = 5;

/// The number of new tokens per round.
const UNSEEN: u32 = 512;

/// Verifies a token whose keys are cached. This never waits.
fn check(verifier: &Verifier, authorization: &str) {
    let mut checking = pin!(verifier.authenticate(Some(authorization.as_bytes())));
    match checking.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(verdict) => drop(black_box(verdict.expect("the token is good"))),
        Poll::Pending => unreachable!("the keys are there"),
    }
}

/// Nanoseconds per `work` in one round.
fn time(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut calls = 0_u32;
    while start.elapsed() < ROUND {
        for _ in 0..16 {
            work();
        }
        calls += 16;
    }
    start.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
}

/// The same on several threads at once: nanoseconds per `work` on each thread.
fn time_on(threads: usize, work: impl Fn() + Sync) -> f64 {
    let barrier = Barrier::new(threads);
    let times = thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    time(&work)
                })
            })
            .collect();
        let ended = running.into_iter().map(thread::ScopedJoinHandle::join);
        ended.collect::<Result<Vec<f64>, _>>().expect("no thread panics")
    });
    times.iter().copied().fold(0.0, f64::max)
}

fn best(measure: impl Fn() -> f64) -> f64 {
    (0..ROUNDS).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

fn main() {
    let issuer = TestIssuer::start();
    let verifier = issuer.verifier();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(verifier.warm_up());
    assert!(verifier.is_ready(), "the keys are there");

    let short = issuer.token().scopes(["claims:read"]);
    let scopes: Vec<String> = (0..100).map(|index| format!("service{index}:write")).collect();
    let long = short.clone().scopes(scopes.iter().map(String::as_str));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    println!(
        "{:>11} {:>16} {:>16} {:>24}",
        "token bytes",
        "new ns/check",
        "known ns/check",
        format!("cached, on {cores} threads")
    );
    for token in [short, long] {
        let authorization = token.authorization();
        let others: Vec<String> = (0..UNSEEN)
            .map(|index| token.clone().claim("jti", format!("{index}")).authorization())
            .collect();
        let new = best(|| {
            // A new verifier, so that its cache is empty.
            let verifier = issuer.verifier();
            runtime.block_on(verifier.warm_up());
            let start = Instant::now();
            for other in &others {
                check(&verifier, other);
            }
            start.elapsed().as_secs_f64() * 1e9 / f64::from(UNSEEN)
        });
        let known = best(|| time(|| check(&verifier, &authorization)));
        let crowded = best(|| time_on(cores, || check(&verifier, &authorization)));
        println!(
            "{:>11} {new:>16.0} {known:>16.0} {crowded:>24.0}",
            authorization.len()
        );
    }
}
