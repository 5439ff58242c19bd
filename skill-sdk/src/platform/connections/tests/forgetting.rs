//! Tokens that are not returned any more.

use std::time::Duration;

use serde_json::json;

use super::{context, described, exchanged, logged_in, material, told};
use crate::platform::clock::Clock;
use crate::platform::core::tests::script::{Reply, Script};

const EXPIRED: &str = "2025-12-31T00:00:00Z";

/// A core with these responses for the connection, in order.
fn core_says<const N: usize>(replies: [Reply; N]) -> std::sync::Arc<Script> {
    Script::new([("exchange", [exchanged(), exchanged(), exchanged()])])
        .then("/agents/me/connections/", replies)
        .then("/agents/me", [Reply::Json(200, json!({"principalId": "p1"}))])
}

fn expiring(moment: &str) -> Reply {
    let data = json!({"access_token": "late", "expires_at": moment});
    Reply::Json(200, json!({"data": {"data": data}}))
}

#[tokio::test]
async fn a_rejection_removes_the_cached_token() {
    let active = || described("active");
    let gone = || Reply::Json(404, json!({"error": {"code": "not_found"}}));
    let forbidden = || Reply::Json(403, json!({"error": {"code": "forbidden"}}));
    let missing = || Reply::Json(404, json!({}));
    let unusable = || Reply::Json(200, json!({"data": {"data": {}}}));
    // The responses after the first token, and the code of both failures.
    let table: Vec<(Vec<Reply>, Vec<Reply>, &str)> = vec![
        (vec![gone(), gone()], vec![], "connection_not_found"),
        (vec![forbidden(), forbidden()], vec![], "forbidden"),
        // A response that is not of the core.
        (vec![missing(), missing()], vec![], "core_error"),
        (
            vec![active(), active(), active(), active()],
            vec![missing(), missing()],
            "secret_store_unavailable",
        ),
        (
            vec![active(), active()],
            vec![
                expiring(EXPIRED),
                expiring(EXPIRED),
                expiring(EXPIRED),
                expiring(EXPIRED),
            ],
            "connection_expired",
        ),
        (
            vec![active(), active()],
            vec![unusable(), unusable()],
            "secret_material_malformed",
        ),
    ];
    for (core, store, code) in table {
        let script = core_says([active()]);
        for reply in core {
            script.then("/agents/me/connections/", [reply]);
        }
        let script = script.then("store.test", [logged_in("vt"), material("one")]);
        for reply in store {
            script.then("store.test", [reply]);
        }
        let context = context(&script, &Clock::manual());
        let crm = context.connection("crm").await.unwrap();
        assert_eq!(crm.access_token().await.unwrap().expose(), "one");
        let fresh = crm.access_token_fresh().await.unwrap_err();
        assert_eq!(fresh.code(), code, "{fresh}");
        let again = crm.access_token().await.unwrap_err();
        assert_eq!(told(&again), told(&fresh));
    }
}

#[tokio::test]
async fn a_deleted_connection_is_not_described() {
    let gone = || Reply::Json(404, json!({"error": {"code": "not_found"}}));
    let script = core_says([described("active"), gone(), gone()])
        .then("store.test", [logged_in("vt"), material("one")]);
    let context = context(&script, &Clock::manual());
    let crm = context.connection("crm").await.unwrap();
    crm.access_token().await.unwrap();
    crm.access_token_fresh().await.unwrap_err();
    let error = context.connection("crm").await.unwrap_err();
    assert_eq!(error.code(), "connection_not_found");
}

#[tokio::test]
async fn a_retryable_failure_keeps_the_cached_token() {
    for down in [Reply::Json(503, json!({})), Reply::Refused] {
        let script = core_says([described("active"), described("active")])
            .then("store.test", [logged_in("vt"), material("one"), down]);
        let context = context(&script, &Clock::manual());
        let crm = context.connection("crm").await.unwrap();
        crm.access_token().await.unwrap();
        crm.access_token_fresh().await.unwrap_err();
        assert_eq!(crm.access_token().await.unwrap().expose(), "one");
    }
}

#[tokio::test]
async fn a_token_is_not_cached_beyond_its_expiry() {
    let clock = Clock::manual();
    let script = core_says([described("active")]).then(
        "store.test",
        [logged_in("vt"), expiring("2026-01-01T00:00:30Z"), material("two")],
    );
    let context = context(&script, &clock);
    let crm = context.connection("crm").await.unwrap();
    assert_eq!(crm.access_token().await.unwrap().expose(), "late");
    clock.advance(Duration::from_secs(24));
    assert_eq!(crm.access_token().await.unwrap().expose(), "late");
    clock.advance(Duration::from_secs(1));
    assert_eq!(crm.access_token().await.unwrap().expose(), "two");
}

#[tokio::test]
async fn very_long_lifetimes_are_accepted() {
    // The largest number below 2^64 that a double holds.
    const LONG: f64 = 18_446_744_073_709_549_568.0;
    let exchanged = || Reply::Json(200, json!({"accessToken": "jwt", "expiresIn": LONG}));
    let login = json!({"auth": {"client_token": "vt", "lease_duration": LONG}});
    let script = Script::new([("exchange", [exchanged(), exchanged()])])
        .then("/agents/me/connections/", [described("active")])
        .then("/agents/me", [Reply::Json(200, json!({"principalId": "p1"}))])
        .then("store.test", [Reply::Json(200, login), material("one")]);
    let context = context(&script, &Clock::manual());
    let crm = context.connection("crm").await.unwrap();
    assert_eq!(crm.access_token().await.unwrap().expose(), "one");
    assert_eq!(script.seen_at("exchange").len(), 2);
}
