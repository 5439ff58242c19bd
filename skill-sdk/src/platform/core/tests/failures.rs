//! What answers of the core become.

use serde_json::json;

use super::script::{Reply, Script};
use super::{context, with_key};
use crate::platform::clock::Clock;
use crate::platform::core::knowledge::{RecallQuery, Snapshot};

#[tokio::test]
async fn statuses_and_envelopes() {
    let envelope = |code: &str| json!({"error": {"code": code, "message": "said", "details": {"a": 1}}});
    let table = [
        (
            Reply::Json(400, envelope("invalid_request")),
            "invalid_request",
            false,
        ),
        (
            Reply::Json(403, envelope("permission_denied")),
            "permission_denied",
            false,
        ),
        (Reply::Json(404, json!({"detail": "x"})), "core_error", false),
        (Reply::Json(400, envelope("Bad Code")), "core_error", false),
        (
            Reply::Json(401, envelope("invalid_credentials")),
            "invalid_credentials",
            false,
        ),
        (Reply::Json(302, json!({})), "core_error", false),
        (Reply::Json(429, envelope("slow")), "core_unavailable", true),
        (Reply::Json(500, envelope("broken")), "core_unavailable", true),
        (Reply::Refused, "core_unavailable", true),
        (Reply::Text(200, "<html>"), "core_error", false),
        (Reply::Text(200, "[]"), "core_error", false),
        (Reply::Json(200, json!({"sections": 5})), "core_error", false),
        (Reply::Large, "core_answer_too_large", false),
    ];
    for (number, (reply, code, retryable)) in table.into_iter().enumerate() {
        let script = Script::of([reply]);
        let context = context(&with_key(), &script, &Clock::manual());
        let error = context
            .knowledge()
            .recall(&RecallQuery::new("w"))
            .await
            .unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            (code, retryable),
            "{number}"
        );
    }
    // Nothing at all is an empty answer.
    let script = Script::of([Reply::Text(204, "")]);
    let context = context(&with_key(), &script, &Clock::manual());
    let plan = context
        .knowledge()
        .preview(&Snapshot::new("p", "s", "c"), "w")
        .await
        .unwrap();
    assert_eq!(plan.opened, 0);
}

#[test]
fn what_the_core_says_is_passed_on_within_limits_and_without_the_credential() {
    let of = |message: &str, details| {
        let envelope = json!({"error": {"code": "x", "message": message, "details": details}});
        super::super::client::failure(400, Some(&envelope), "key-1")
    };
    let error = of("no such field", json!({"field": "a"}));
    assert_eq!(error.message(), "the core returned status 400: no such field");
    assert_eq!(error.details(), Some(&json!({"field": "a"})));
    let error = of(&"ä".repeat(600), json!("x".repeat(20_000)));
    assert_eq!(error.message().chars().filter(|c| *c == 'ä').count(), 500);
    assert_eq!(error.details(), None);
    let error = of("the token key-1 is bad", json!({"token": "key-1"}));
    assert!(!format!("{error:?}").contains("key-1"));
}
