//! Slow responses of the JWKS server.

use std::time::{Duration, Instant};

use skill_sdk::auth::Verifier;
use skill_sdk::testing::{KeysAnswer, TestIssuer};
use tokio::task::JoinSet;

use super::verifier_with_clock;

/// The error code of a token while the keys are missing.
const UNAVAILABLE: Result<(), &str> = Err("verification_unavailable");

/// Verifies a token in this many concurrent tasks.
fn check_all(verifier: &Verifier, authorization: &str, times: usize) -> JoinSet<Result<(), &'static str>> {
    let mut checks = JoinSet::new();
    for _ in 0..times {
        let (verifier, authorization) = (verifier.clone(), authorization.to_owned());
        checks.spawn(async move {
            verifier
                .authenticate(Some(authorization.as_bytes()))
                .await
                .map(drop)
                .map_err(|error| error.code())
        });
    }
    checks
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_callers_share_one_fetch() {
    let issuer = TestIssuer::start();
    let (verifier, _) = verifier_with_clock(&issuer);
    issuer.answer_with(KeysAnswer::Held);
    let mut checks = check_all(&verifier, &issuer.token().authorization(), 50);
    let others = check_all(&verifier, &issuer.token().authorization(), 50);
    issuer.fetched(1).await;
    assert!(
        checks.try_join_next().is_none(),
        "no caller is accepted before there are keys"
    );
    issuer.answer_with(KeysAnswer::Keys);
    let mut results = checks.join_all().await;
    results.extend(others.join_all().await);
    assert_eq!(results, vec![Ok(()); 100]);
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn with_stale_keys_only_one_caller_waits() {
    let issuer = TestIssuer::start();
    let (verifier, clock) = verifier_with_clock(&issuer);
    let token = issuer.token().authorization();
    assert_eq!(check_all(&verifier, &token, 1).join_all().await, [Ok(())]);
    issuer.answer_with(KeysAnswer::Held);
    clock.age_keys(301);
    let first = check_all(&verifier, &token, 1);
    issuer.fetched(2).await;
    // The JWKS response is still pending when these calls finish, including those with a new token.
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
async fn a_cancelled_caller_does_not_cancel_the_fetch() {
    let issuer = TestIssuer::start();
    let (verifier, _) = verifier_with_clock(&issuer);
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

#[tokio::test]
async fn a_fetch_times_out_after_three_seconds() {
    let issuer = TestIssuer::start();
    issuer.answer_with(KeysAnswer::Held);
    let (verifier, clock) = verifier_with_clock(&issuer);
    let token = issuer.token().authorization();
    let before = Instant::now();
    let checks = check_all(&verifier, &token, 10).join_all().await;
    assert_eq!(checks, vec![UNAVAILABLE; 10]);
    assert!(before.elapsed() >= Duration::from_millis(2900));
    // Until the minimum refresh interval is over, calls are rejected at once.
    let before = Instant::now();
    let checks = check_all(&verifier, &token, 10).join_all().await;
    assert_eq!(checks, vec![UNAVAILABLE; 10]);
    assert!(before.elapsed() < Duration::from_secs(2));
    assert_eq!(issuer.fetches(), 1);
    issuer.answer_with(KeysAnswer::Keys);
    clock.age_keys(10);
    assert_eq!(check_all(&verifier, &token, 1).join_all().await, [Ok(())]);
}

#[tokio::test]
async fn readiness_starts_a_fetch_without_waiting() {
    let issuer = TestIssuer::start();
    issuer.answer_with(KeysAnswer::Held);
    let (verifier, _) = verifier_with_clock(&issuer);
    assert!(!verifier.is_ready());
    assert!(!verifier.is_ready());
    issuer.fetched(1).await;
    assert!(!verifier.is_ready());
    issuer.answer_with(KeysAnswer::Keys);
    verifier.warm_up().await;
    assert!(verifier.is_ready());
    issuer.answer_with(KeysAnswer::Closed);
    assert!(
        verifier.is_ready(),
        "the server stays ready after the first fetch"
    );
    assert_eq!(issuer.fetches(), 1);
}

#[tokio::test]
async fn warming_up_retries_until_there_are_keys() {
    let issuer = TestIssuer::start();
    issuer.answer_with(KeysAnswer::Closed);
    let (verifier, clock) = verifier_with_clock(&issuer);
    let own = verifier.clone();
    let warming = tokio::spawn(async move { own.warm_up().await });
    issuer.fetched(1).await;
    assert_eq!(
        check_all(&verifier, &issuer.token().authorization(), 1)
            .join_all()
            .await,
        [UNAVAILABLE]
    );
    issuer.answer_with(KeysAnswer::Keys);
    clock.age_keys(10);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    warming.await.unwrap();
    assert!(verifier.is_ready());
    assert_eq!(issuer.fetches(), 2);
}
