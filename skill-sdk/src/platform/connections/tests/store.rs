//! What the way to the store can fail at.

use serde_json::{Value, json};

use super::{context, context_with, described, exchanged, logged_in, material, script, store_settings, told};
use crate::context::SkillContext;
use crate::error::SkillError;
use crate::platform::clock::Clock;
use crate::platform::connections::AccessToken;
use crate::platform::core::tests::script::{Reply, Script};

async fn token(context: &SkillContext) -> Result<AccessToken, SkillError> {
    context.connection("crm").await?.access_token().await
}

#[tokio::test]
async fn failures_of_the_store() {
    let denied = || Reply::Json(403, json!({"errors": ["permission denied"]}));
    let unavailable = "secret_store_unavailable";
    // What the store answers to the login and to the reading.
    let table: Vec<(Vec<Reply>, &str, bool, Value)> = vec![
        (vec![Reply::Refused], unavailable, true, json!("unreachable")),
        (vec![Reply::Large], unavailable, true, json!("unreachable")),
        (vec![denied()], unavailable, true, json!("login_refused")),
        (
            vec![Reply::Json(400, json!({}))],
            unavailable,
            true,
            json!("login_refused"),
        ),
        (
            vec![Reply::Json(503, json!({}))],
            unavailable,
            true,
            json!("sealed_or_standby"),
        ),
        (
            vec![Reply::Json(404, json!({}))],
            unavailable,
            true,
            json!("status_404"),
        ),
        (
            vec![Reply::Json(307, json!({}))],
            unavailable,
            true,
            json!("status_307"),
        ),
        (
            vec![Reply::Json(200, json!({}))],
            unavailable,
            true,
            json!("login_malformed"),
        ),
        (
            vec![logged_in("vt"), Reply::Refused],
            unavailable,
            true,
            json!("unreachable"),
        ),
        (
            vec![logged_in("vt"), Reply::Json(500, json!({}))],
            unavailable,
            true,
            json!("status_500"),
        ),
        (
            vec![logged_in("vt"), Reply::Json(404, json!({}))],
            unavailable,
            true,
            json!("access_not_granted"),
        ),
        (
            vec![logged_in("vt"), denied(), logged_in("vt"), denied()],
            unavailable,
            true,
            json!("access_not_granted"),
        ),
        (
            vec![logged_in("vt"), denied(), denied()],
            unavailable,
            true,
            json!("login_refused"),
        ),
        (
            vec![logged_in("vt"), Reply::Json(400, json!({}))],
            "connection_expired",
            false,
            json!("token_unavailable"),
        ),
        (
            vec![logged_in("vt"), Reply::Text(200, "x")],
            "secret_material_malformed",
            false,
            Value::Null,
        ),
    ];
    for (number, (replies, code, retryable, reason)) in table.into_iter().enumerate() {
        let script = script();
        for reply in replies {
            script.then("store.test", [reply]);
        }
        let error = token(&context(&script, &Clock::manual())).await.unwrap_err();
        assert_eq!(told(&error), (code.to_owned(), retryable, reason), "{number}");
    }
}

#[tokio::test]
async fn a_login_that_lost_its_rights_is_renewed() {
    let denied = Reply::Json(403, json!({}));
    let script = script().then(
        "store.test",
        [logged_in("one"), denied, logged_in("two"), material("tok")],
    );
    assert_eq!(
        token(&context(&script, &Clock::manual())).await.unwrap().expose(),
        "tok"
    );
    let reads = script.seen_at("/v1/kv/");
    let logins: Vec<_> = reads
        .iter()
        .map(|read| read.header("x-vault-token").unwrap())
        .collect();
    assert_eq!(logins, ["one", "two"]);
}

#[tokio::test]
async fn the_core_knows_better_than_a_refusal() {
    for (status, code) in [
        ("revoked", "connection_revoked"),
        ("expired", "connection_expired"),
        ("pending", "connection_pending"),
        ("paused", "core_error"),
    ] {
        for refusal in [
            vec![Reply::Json(403, json!({}))],
            vec![logged_in("vt"), Reply::Json(404, json!({}))],
        ] {
            let script = Script::new([("exchange", [exchanged(), exchanged()])])
                .then(
                    "/agents/me/connections/",
                    [described("active"), described(status)],
                )
                .then("/agents/me", [Reply::Json(200, json!({"principalId": "p1"}))]);
            for reply in refusal {
                script.then("store.test", [reply]);
            }
            let error = token(&context(&script, &Clock::manual())).await.unwrap_err();
            assert_eq!((error.code(), error.is_retryable()), (code, false));
        }
    }
}

#[tokio::test]
async fn failures_of_the_iam_on_the_way() {
    let table = [
        (
            Reply::Refused,
            "secret_store_unavailable",
            true,
            json!("unreachable"),
        ),
        (
            Reply::Json(502, json!({})),
            "secret_store_unavailable",
            true,
            json!("status_502"),
        ),
        (
            Reply::Json(401, json!({})),
            "iam_invalid_token",
            false,
            Value::Null,
        ),
        (
            Reply::Json(403, json!({})),
            "iam_audience_not_allowed",
            false,
            Value::Null,
        ),
    ];
    for (reply, code, retryable, reason) in table {
        // The first exchange is for the core.
        let script = Script::new([("exchange", [exchanged(), reply])])
            .then("/agents/me/connections/", [described("active")])
            .then("/agents/me", [Reply::Json(200, json!({"principalId": "p1"}))]);
        let error = token(&context(&script, &Clock::manual())).await.unwrap_err();
        assert_eq!(told(&error), (code.to_owned(), retryable, reason));
    }
}

#[tokio::test]
async fn what_has_to_be_configured() {
    let without = |change: fn(&mut super::StoreSettings)| {
        let mut settings = store_settings();
        change(&mut settings);
        settings
    };
    let script = script();
    let nowhere = without(|settings| settings.url = None);
    let context = context_with(&nowhere, &script, &Clock::manual());
    assert_eq!(
        context.connection("crm").await.unwrap().key(),
        "crm",
        "it is described all the same"
    );
    let error = token(&context).await.unwrap_err();
    assert_eq!(
        told(&error),
        (
            "secret_store_unavailable".to_owned(),
            true,
            json!("not_configured")
        )
    );

    // A role of the configuration, and none that the core says.
    let script = super::script().then("store.test", [logged_in("vt"), material("tok")]);
    let own_role = without(|settings| settings.role = Some("own".to_owned()));
    token(&context_with(&own_role, &script, &Clock::manual()))
        .await
        .unwrap();
    assert_eq!(
        script.seen_at("/v1/auth/jwt/login")[0].body,
        json!({"role": "own", "jwt": "jwt-1"})
    );
    let exchange = &script.seen_at("exchange")[1].body;
    assert_eq!(
        (&exchange["audience"], &exchange["scopes"]),
        (&json!("openbao"), &json!(["secrets:read"]))
    );
    let script =
        Script::new([("exchange", [exchanged()])]).then("/agents/me/connections/", [described("active")]);
    let error = token(&super::context(&script, &Clock::manual()))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("agent_identity_missing", false)
    );
}
