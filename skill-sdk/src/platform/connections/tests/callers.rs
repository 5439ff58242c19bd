//! Concurrent callers.

use std::time::Duration;

use super::{context, described, exchanged, logged_in, material, script};
use crate::platform::clock::Clock;
use crate::platform::core::tests::script::{Reply, Script};

#[tokio::test]
async fn a_hundred_callers_read_once() {
    let script = script().then(
        "store.test",
        [
            logged_in("vt"),
            Reply::Gated(Box::new(material("tok"))),
            material("other"),
        ],
    );
    let context = context(&script, &Clock::manual());
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let context = context.clone();
            tokio::spawn(async move { context.connection("crm").await?.access_token().await })
        })
        .collect();
    script.waiting.acquire().await.unwrap().forget();
    script.gate.add_permits(1);
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap().expose(), "tok");
    }
    assert_eq!(script.seen_at("/agents/me/connections/").len(), 1);
    assert_eq!(script.seen_at("/v1/auth/jwt/login").len(), 1);
    assert_eq!(script.seen_at("/v1/kv/").len(), 1);
    assert_eq!(
        script.seen_at("exchange").len(),
        2,
        "one for the core, one for the store"
    );
}

#[tokio::test]
async fn a_hundred_callers_share_a_failure() {
    let gated = Reply::Gated(Box::new(Reply::Json(503, serde_json::json!({}))));
    let script = script().then("store.test", [logged_in("vt"), gated, material("tok")]);
    let context = context(&script, &Clock::manual());
    let crm = context.connection("crm").await.unwrap();
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            tokio::spawn({
                let crm = crm.clone();
                async move { crm.access_token().await }
            })
        })
        .collect();
    script.waiting.acquire().await.unwrap().forget();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    script.gate.add_permits(1);
    for task in tasks {
        let error = task.await.unwrap().unwrap_err();
        assert_eq!(error.code(), "secret_store_unavailable");
    }
    assert_eq!(script.seen_at("/v1/kv/").len(), 1);
    assert_eq!(
        crm.access_token().await.unwrap().expose(),
        "tok",
        "a failure is not kept"
    );
}

#[tokio::test]
async fn the_next_caller_reads_when_the_first_is_dropped() {
    let script = script().then("store.test", [logged_in("vt"), Reply::Nothing, material("tok")]);
    let context = context(&script, &Clock::manual());
    let crm = context.connection("crm").await.unwrap();
    let first = tokio::spawn({
        let crm = crm.clone();
        async move { crm.access_token().await }
    });
    while script.seen_at("/v1/kv/").is_empty() {
        tokio::task::yield_now().await;
    }
    let second = tokio::spawn({
        let crm = crm.clone();
        async move { crm.access_token().await }
    });
    tokio::task::yield_now().await;
    first.abort();
    assert_eq!(second.await.unwrap().unwrap().expose(), "tok");
}

#[tokio::test]
async fn a_fresh_token_bypasses_the_cache() {
    let clock = Clock::manual();
    let script = script().then("store.test", [logged_in("vt"), material("one"), material("two")]);
    let context = context(&script, &clock);
    let crm = context.connection("crm").await.unwrap();
    assert_eq!(crm.access_token().await.unwrap().expose(), "one");
    assert_eq!(crm.access_token_fresh().await.unwrap().expose(), "two");
    clock.advance(Duration::from_secs(59));
    assert_eq!(crm.access_token().await.unwrap().expose(), "two");
}

#[tokio::test]
async fn tokens_are_not_printed() {
    let script = script().then(
        "store.test",
        [
            logged_in("visible-login"),
            material("visible-token"),
            Reply::Json(
                500,
                serde_json::json!({"errors": ["visible-token visible-login jwt-1 pat-1"]}),
            ),
        ],
    );
    let context = context(&script, &Clock::manual());
    let crm = context.connection("crm").await.unwrap();
    let token = crm.access_token().await.unwrap();
    let error = crm.access_token_fresh().await.unwrap_err();
    let shown = format!(
        "{token:?} {crm:?} {context:?} {error:?} {error} {:?}",
        error.details()
    );
    for secret in ["visible-token", "visible-login", "jwt-1", "pat-1"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert_eq!(token.expose(), "visible-token");
}

#[tokio::test]
async fn another_connection_is_rejected() {
    let script =
        Script::new([("exchange", [exchanged()])]).then("/agents/me/connections/", [described("active")]);
    let error = context(&script, &Clock::manual())
        .connection("other")
        .await
        .unwrap_err();
    assert_eq!(error.code(), "core_error");
}
