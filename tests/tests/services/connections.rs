//! Connections over real HTTP.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::json;
use skill_sdk::connections::{AccessToken, ConnectionStatus};
use skill_sdk::testing::{FakeConnection, FakeConnections};
use skill_sdk::{SkillContext, SkillError};

use super::faulty_server::Reply;
use super::mock_platform::{Fault, MATERIAL, PLACE, Platform, connection_description};
use super::mock_secret_store::LEASE;
use super::{borrowed_context, context};

async fn token(context: &SkillContext) -> Result<AccessToken, SkillError> {
    context.connection("crm").await?.access_token().await
}

fn store_error(error: &SkillError) -> (&str, bool, Option<&str>) {
    let reason = error.details().and_then(|details| details["reason"].as_str());
    (error.code(), error.is_retryable(), reason)
}

#[tokio::test]
async fn a_token_is_fetched_from_the_store() {
    let platform = Platform::start().await;
    let context = context(platform.variables());
    let crm = context.connection("crm").await.unwrap();
    assert_eq!(
        (crm.key(), crm.connection_type(), crm.type_version()),
        ("crm", "crm", Some(2))
    );
    assert_eq!((crm.account(), crm.auth()), (Some("acme"), Some("token")));
    assert_eq!(
        (crm.status(), &crm.settings()["queue"]),
        (&ConnectionStatus::Active, &json!("support"))
    );
    assert!(
        platform.seen("/store/").is_empty(),
        "the store is asked for tokens only"
    );
    assert_eq!(crm.access_token().await.unwrap().expose(), MATERIAL);
    let login = &platform.seen("/store/v1/auth/jwt/login")[0].body;
    assert_eq!(login["role"], "agent-p-1");
    let audiences: Vec<_> = platform
        .seen("exchange")
        .iter()
        .map(|seen| seen.body["audience"].clone())
        .collect();
    assert_eq!(audiences, ["control-plane", "openbao"]);
    assert_eq!(
        platform.seen("exchange")[1].body["scopes"],
        json!(["secrets:read"])
    );
    // The core sees nothing of the store, and the store sees nothing of the core.
    let core = platform.seen("/core/");
    assert!(
        core.iter()
            .all(|request| request.header("x-vault-token").is_none())
    );
    let store = platform.seen("/store/");
    assert!(
        store
            .iter()
            .all(|request| request.header("authorization").is_none())
    );
}

#[tokio::test]
async fn concurrent_callers_share_one_request() {
    let platform = Platform::start().await;
    let context = context(platform.variables());
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            let context = context.clone();
            tokio::spawn(async move { token(&context).await })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.unwrap().unwrap().expose(), MATERIAL);
    }
    for path in ["/agents/me/connections/", "/auth/jwt/login", PLACE] {
        assert_eq!(platform.seen(path).len(), 1, "{path}");
    }
    assert_eq!(platform.seen("exchange").len(), 2);
}

#[tokio::test]
async fn a_revoked_login_is_renewed() {
    let platform = Platform::start().await;
    let context = context(platform.variables());
    let crm = context.connection("crm").await.unwrap();
    crm.access_token().await.unwrap();
    platform.state().store.revoke_logins();
    assert_eq!(crm.access_token_fresh().await.unwrap().expose(), MATERIAL);
    assert_eq!(platform.seen("/auth/jwt/login").len(), 2);
    // If the store's clock is fast, the lease ends earlier than expected.
    platform.state().store.advance(LEASE);
    assert_eq!(crm.access_token_fresh().await.unwrap().expose(), MATERIAL);
    assert_eq!(platform.seen("/auth/jwt/login").len(), 3);
    assert_eq!(crm.access_token_fresh().await.unwrap().expose(), MATERIAL);
    assert_eq!(platform.seen("/auth/jwt/login").len(), 3);
}

/// Documented statuses of the store that the recorded cases do not cover. They do not depend on the connection, and they
/// are temporary.
#[tokio::test]
async fn temporary_store_statuses_are_retryable() {
    let platform = Platform::start().await;
    // A standby that redirects, quotas, replica states, lagging caches, internal errors.
    let elsewhere = Reply::Http {
        status: 307,
        headers: vec![("location", format!("http://127.0.0.1:9/v1/{PLACE}"))],
        body: Vec::new(),
    };
    let told_by = |status: u16| Reply::json(status, &json!({"errors": ["material-visible"]}));
    let table = [
        (elsewhere, "status_307"),
        (told_by(405), "status_405"),
        (told_by(412), "status_412"),
        (told_by(429), "status_429"),
        (told_by(472), "status_472"),
        (told_by(473), "status_473"),
        (told_by(500), "status_500"),
        (told_by(502), "status_502"),
        (told_by(503), "sealed_or_standby"),
    ];
    for part in ["/auth/jwt/login", PLACE] {
        for (reply, reason) in &table {
            // A new configuration creates a new client, so no cache is shared.
            let own = format!("{reason}-{}", part.len());
            let context = context(platform.variables_with(&[("IAM_PRINCIPAL", &own)]));
            platform.add_faults(part, [Fault::Instead(reply.clone())]);
            let error = token(&context).await.unwrap_err();
            assert_eq!(
                store_error(&error),
                ("secret_store_unavailable", true, Some(*reason)),
                "{part}"
            );
            assert!(!format!("{error:?}").contains("visible"), "{error:?}");
            assert_eq!(token(&context).await.unwrap().expose(), MATERIAL, "it passes");
        }
    }
    let of_store = platform.seen("/store/");
    assert!(
        of_store
            .iter()
            .all(|seen| seen.header("x-vault-namespace").is_none())
    );
}

#[tokio::test]
async fn a_deleted_version_is_not_found() {
    let platform = Platform::start().await;
    platform.state().store.deleted.insert(PLACE.to_owned());
    let error = token(&context(platform.variables())).await.unwrap_err();
    let expected = ("secret_store_unavailable", true, Some("access_not_granted"));
    assert_eq!(store_error(&error), expected);
    // The core was asked again, because it may know a newer version.
    assert_eq!(platform.seen("/agents/me/connections/").len(), 2);
}

#[tokio::test]
async fn unusable_store_responses_are_failures() {
    let platform = Platform::start().await;
    let context = context(platform.variables());
    let unavailable = |reason| ("secret_store_unavailable", true, Some(reason));
    platform.state().store.sealed = true;
    assert_eq!(
        store_error(&token(&context).await.unwrap_err()),
        unavailable("sealed_or_standby")
    );
    platform.state().store.sealed = false;
    platform.state().store.policy.clear();
    let error = token(&context).await.unwrap_err();
    assert_eq!(store_error(&error), unavailable("access_not_granted"));
    assert_eq!(error.details().unwrap()["connection"], "crm");
    platform.state().store.policy.insert(PLACE.to_owned());
    platform
        .state()
        .store
        .material
        .insert(PLACE.to_owned(), json!({"refresh_token": "x"}));
    assert_eq!(
        store_error(&token(&context).await.unwrap_err()),
        ("secret_material_malformed", false, None)
    );
    platform.state().store.material.insert(
        PLACE.to_owned(),
        json!({"access_token": "old", "expires_at": "2026-01-01T00:00:00Z"}),
    );
    assert_eq!(
        store_error(&token(&context).await.unwrap_err()),
        ("connection_expired", false, Some("token_expired"))
    );
    platform.add_faults(PLACE, [Fault::Instead(Reply::Drop)]);
    assert_eq!(
        store_error(&token(&context).await.unwrap_err()),
        unavailable("unreachable")
    );
    platform.add_faults(PLACE, [Fault::Instead(Reply::Flood)]);
    assert_eq!(
        store_error(&token(&context).await.unwrap_err()),
        unavailable("unreachable")
    );
    let role = platform.variables_with(&[("SKILL_SDK_SECRET_STORE_ROLE", "somebody-else")]);
    assert_eq!(
        store_error(&token(&super::context(role)).await.unwrap_err()),
        unavailable("login_refused")
    );
    let nowhere = platform.variables_with(&[("SKILL_SDK_SECRET_STORE_URL", "")]);
    assert_eq!(
        store_error(&token(&super::context(nowhere)).await.unwrap_err()),
        unavailable("not_configured")
    );
    let audience = platform.variables_with(&[("SKILL_SDK_SECRET_STORE_AUDIENCE", "other")]);
    assert_eq!(
        store_error(&token(&super::context(audience)).await.unwrap_err()),
        ("iam_audience_not_allowed", false, None)
    );
}

#[tokio::test]
async fn connection_descriptions_are_validated() {
    let platform = Platform::start().await;
    for (status, code) in [
        ("pending", "connection_pending"),
        ("revoked", "connection_revoked"),
        ("expired", "connection_expired"),
    ] {
        platform
            .state()
            .connections
            .insert("crm".to_owned(), connection_description(status));
        let context = context(platform.variables());
        assert_eq!(context.connection("crm").await.unwrap().key(), "crm");
        let error = token(&context).await.unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (code, false));
        assert_eq!(error.details(), Some(&json!({"connection": "crm"})));
    }
    assert!(platform.seen("/store/").is_empty());
    let context = context(platform.variables());
    for key in ["other", "CRM", "a/b", ""] {
        let error = context.connection(key).await.unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            ("connection_not_found", false)
        );
        assert_eq!(error.details(), Some(&json!({"connection": key})));
    }
    let mut elsewhere = connection_description("active");
    elsewhere["secretRef"] = "sys/seal".into();
    platform.state().connections.insert("crm".to_owned(), elsewhere);
    let error = token(&context).await.unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("secret_ref_invalid", false)
    );
}

#[tokio::test]
async fn oauth2_tokens_have_no_versions() {
    let platform = Platform::start().await;
    let place = "oauth2/creds/tenants/t-1/connections/crm";
    let mut description = connection_description("active");
    description["secretRef"] = place.into();
    {
        let mut state = platform.state();
        state.connections.insert("crm".to_owned(), description);
        state.store.material.insert(
            place.to_owned(),
            json!({"access_token": "tok", "expire_time": "2999-01-01T00:00:00.5Z"}),
        );
        state.store.policy.insert(place.to_owned());
    }
    let token = token(&context(platform.variables())).await.unwrap();
    assert_eq!(token.expose(), "tok");
    assert!(token.expires_at().is_some());
}

#[tokio::test]
async fn a_rotated_token_is_seen_after_the_cache_or_when_fresh() {
    let fake = FakeConnections::new();
    fake.add(
        FakeConnection::new("crm")
            .token("first")
            .expires_in(Duration::from_hours(1)),
    );
    let context = borrowed_context(|call| call.connections(&fake)).await;
    let crm = context.connection("crm").await.unwrap();
    let first = crm.access_token().await.unwrap();
    assert_eq!(first.expose(), "first");
    let hour = UNIX_EPOCH + Duration::from_hours(490_897);
    assert_eq!(first.expires_at(), Some(hour));
    fake.rotate("crm");
    assert_eq!(fake.token("crm").as_deref(), Some("first-2"));
    assert_eq!(crm.access_token().await.unwrap().expose(), "first");
    fake.advance(Duration::from_mins(1));
    assert_eq!(crm.access_token().await.unwrap().expose(), "first-2");
    fake.rotate("crm");
    assert_eq!(crm.access_token_fresh().await.unwrap().expose(), "first-3");
    // The login of the server expires as well, and is renewed on the way.
    for _ in 0..10 {
        fake.advance(Duration::from_secs(301));
        fake.rotate("crm");
        assert_eq!(
            crm.access_token().await.unwrap().expose(),
            fake.token("crm").unwrap()
        );
    }
    assert!(!format!("{fake:?}").contains("first"));
}
