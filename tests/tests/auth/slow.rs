//! Keys that take their time.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use skill_sdk::auth::{
    Clock, Fetching, JWKS_MIN_REFRESH_INTERVAL, KeySource, KeySourceError, Refusal, SystemClock, Verifier,
};
use skill_sdk::testing::{KeysAnswer, TestIssuer};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{ManualClock, clocked};

/// Keys that come in the way that is told.
struct Strange {
    how: fn() -> Fetching<'static>,
    fetches: Arc<AtomicUsize>,
}

impl KeySource for Strange {
    fn fetch(&self) -> Fetching<'_> {
        self.fetches.fetch_add(1, Ordering::Relaxed);
        (self.how)()
    }
}

fn strange(issuer: &TestIssuer, how: fn() -> Fetching<'static>) -> (Verifier, ManualClock, Arc<AtomicUsize>) {
    let (clock, fetches) = (ManualClock::default(), Arc::new(AtomicUsize::new(0)));
    let source = Strange {
        how,
        fetches: Arc::clone(&fetches),
    };
    let verifier = Verifier::with_keys(issuer.settings(), source, clock.clone());
    (verifier, clock, fetches)
}

/// Time as tokio's, which the test does not wait for.
struct Paused(Instant);

impl Clock for Paused {
    fn unix_seconds(&self) -> i64 {
        SystemClock::default().unix_seconds()
    }

    fn monotonic(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Checks a token in a task of its own, so many times.
fn check_all(verifier: &Verifier, authorization: &str, times: usize) -> JoinSet<Result<(), Refusal>> {
    let mut checks = JoinSet::new();
    for _ in 0..times {
        let (verifier, authorization) = (verifier.clone(), authorization.to_owned());
        checks.spawn(async move {
            verifier
                .authenticate(Some(authorization.as_bytes()))
                .await
                .map(drop)
        });
    }
    checks
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_callers_wait_for_one_fetch() {
    let issuer = TestIssuer::start();
    let (verifier, _) = clocked(&issuer);
    issuer.answer_with(KeysAnswer::Held);
    let mut checks = check_all(&verifier, &issuer.token().authorization(), 50);
    let others = check_all(&verifier, &issuer.token().authorization(), 50);
    issuer.fetched(1).await;
    assert!(
        checks.try_join_next().is_none(),
        "nobody gets in before there are keys"
    );
    issuer.answer_with(KeysAnswer::Keys);
    let mut results = checks.join_all().await;
    results.extend(others.join_all().await);
    assert_eq!(results, vec![Ok(()); 100]);
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn with_old_keys_only_the_one_who_asks_waits() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = clocked(&issuer);
    let token = issuer.token().authorization();
    assert_eq!(check_all(&verifier, &token, 1).join_all().await, [Ok(())]);
    issuer.answer_with(KeysAnswer::Held);
    clock.age_keys(301);
    let first = check_all(&verifier, &token, 1);
    issuer.fetched(2).await;
    // The answer is still held when they are through, those with a token that is new as well.
    assert_eq!(
        check_all(&verifier, &token, 50).join_all().await,
        vec![Ok(()); 50]
    );
    let fresh = issuer.token().authorization();
    assert_eq!(
        check_all(&verifier, &fresh, 50).join_all().await,
        vec![Ok(()); 50]
    );
    issuer.answer_with(KeysAnswer::Keys);
    assert_eq!(first.join_all().await, [Ok(())]);
    assert_eq!(issuer.fetches(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_caller_that_goes_away_takes_nothing_along() {
    let issuer = TestIssuer::start();
    let (verifier, _) = clocked(&issuer);
    issuer.answer_with(KeysAnswer::Held);
    let token = issuer.token().authorization();
    let mut first = check_all(&verifier, &token, 1);
    issuer.fetched(1).await;
    let second = check_all(&verifier, &token, 1);
    first.shutdown().await;
    issuer.answer_with(KeysAnswer::Keys);
    assert_eq!(second.join_all().await, [Ok(())]);
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_fetch_without_an_answer_is_given_up_after_three_seconds() {
    let issuer = TestIssuer::start();
    let (verifier, clock, fetches) = strange(&issuer, || Box::pin(pending()));
    let token = issuer.token().authorization();
    for round in 1..3 {
        let before = Instant::now();
        let checks = check_all(&verifier, &token, 10).join_all().await;
        assert_eq!(checks, vec![Err(Refusal::Unavailable); 10]);
        assert_eq!(before.elapsed().as_secs(), 3);
        // Until the pause is over they are told at once.
        let before = Instant::now();
        let checks = check_all(&verifier, &token, 10).join_all().await;
        assert_eq!(checks, vec![Err(Refusal::Unavailable); 10]);
        assert_eq!(before.elapsed(), Duration::ZERO);
        assert_eq!(fetches.load(Ordering::Relaxed), round);
        clock.age_keys(10);
    }
}

#[tokio::test]
async fn a_source_that_panics_is_one_that_fails() {
    let issuer = TestIssuer::start();
    let (verifier, clock, fetches) = strange(&issuer, || panic!("on purpose"));
    let token = issuer.token().authorization();
    for round in 1..3 {
        let checks = check_all(&verifier, &token, 10).join_all().await;
        assert_eq!(checks, vec![Err(Refusal::Unavailable); 10]);
        assert_eq!(fetches.load(Ordering::Relaxed), round);
        clock.age_keys(10);
    }
}

#[tokio::test]
async fn readiness_asks_for_keys_and_does_not_wait() {
    let issuer = TestIssuer::start();
    issuer.answer_with(KeysAnswer::Held);
    let (verifier, _) = clocked(&issuer);
    assert!(!verifier.is_ready());
    assert!(!verifier.is_ready());
    issuer.fetched(1).await;
    assert!(!verifier.is_ready());
    issuer.answer_with(KeysAnswer::Keys);
    verifier.warm_up().await;
    assert!(verifier.is_ready());
    issuer.answer_with(KeysAnswer::Closed);
    assert!(verifier.is_ready(), "keys that were fetched once count");
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn warming_up_goes_on_until_there_are_keys() {
    static ATTEMPTS: AtomicUsize = AtomicUsize::new(0);
    static DOCUMENT: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    let issuer = TestIssuer::start();
    DOCUMENT.set(issuer.jwks().to_string()).unwrap();
    let source = Strange {
        how: || {
            Box::pin(async {
                match ATTEMPTS.fetch_add(1, Ordering::Relaxed) {
                    0..4 => Err(KeySourceError::new("not yet")),
                    _ => Ok(DOCUMENT.wait().clone().into_bytes()),
                }
            })
        },
        fetches: Arc::default(),
    };
    let verifier = Verifier::with_keys(issuer.settings(), source, Paused(Instant::now()));
    let before = Instant::now();
    verifier.warm_up().await;
    assert_eq!(
        before.elapsed().as_secs(),
        4 * JWKS_MIN_REFRESH_INTERVAL.as_secs()
    );
    assert_eq!(ATTEMPTS.load(Ordering::Relaxed), 5);
    let token = issuer.token().authorization();
    assert_eq!(check_all(&verifier, &token, 1).join_all().await, [Ok(())]);
}
