//! Tokens of the IAM: requests, caching and rejections.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::settings::IamSettings;
use super::script::{Reply, Script};
use super::{CoreClient, CoreSettings, context, with_key};
use crate::context::SkillContext;
use crate::environment::Environment;
use crate::error::SkillError;
use crate::platform::clock::Clock;
use crate::platform::core::knowledge::{Recall, RecallQuery};

const EXCHANGE: &str = "platform-access-tokens:exchange";

fn iam() -> IamSettings {
    IamSettings {
        url: "http://iam.test".to_owned(),
        tenant: Some("tenant".to_owned()),
        audience: "control-plane".to_owned(),
        scopes: vec!["control-plane:read".to_owned()],
        token: Some("pat-1".to_owned()),
        mode: Some("environment".to_owned()),
        principal: None,
        file: None,
    }
}

fn with_iam() -> CoreSettings {
    CoreSettings {
        iam: Some(iam()),
        ..with_key()
    }
}

fn exchanged(token: &str, seconds: u64) -> Reply {
    Reply::Json(200, json!({"accessToken": token, "expiresIn": seconds}))
}

async fn recall(context: &SkillContext) -> Result<Recall, SkillError> {
    context.knowledge().recall(&RecallQuery::new("w")).await
}

fn bearers(script: &Script) -> Vec<String> {
    let requests = script.seen_at("/context/recall");
    let bearer = |request: &super::script::Seen| request.header("authorization").unwrap().to_owned();
    requests.iter().map(bearer).collect()
}

#[tokio::test]
async fn a_token_is_renewed_half_a_minute_before_its_expiry() {
    let clock = Clock::manual();
    let script = Script::new([(
        EXCHANGE,
        [exchanged("a", 300), exchanged("b", 20), exchanged("c", 300)],
    )]);
    let context = context(&with_iam(), &script, &clock);
    recall(&context).await.unwrap();
    clock.advance(Duration::from_millis(269_999));
    recall(&context).await.unwrap();
    clock.advance(Duration::from_millis(1));
    recall(&context).await.unwrap();
    // A token that is shorter than the margin is used once.
    recall(&context).await.unwrap();
    assert_eq!(bearers(&script), ["Bearer a", "Bearer a", "Bearer b", "Bearer c"]);
    let exchange = &script.seen_at(EXCHANGE)[0];
    assert_eq!(
        exchange.url,
        "http://iam.test/api/v1/platform-access-tokens:exchange"
    );
    assert_eq!(
        exchange.body,
        json!({"token": "pat-1", "audience": "control-plane", "scopes": ["control-plane:read"]})
    );
    assert_eq!(exchange.header("authorization"), None);
}

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    let refused = || Reply::Json(401, json!({"error": {"code": "invalid_credentials"}}));
    let script = Script::new([(EXCHANGE, [exchanged("a", 300), exchanged("b", 300)])])
        .then("recall", [refused(), Reply::Json(200, json!({}))]);
    recall(&context(&with_iam(), &script, &Clock::manual()))
        .await
        .unwrap();
    assert_eq!(bearers(&script), ["Bearer a", "Bearer b"]);

    let script = Script::new([(EXCHANGE, [exchanged("a", 300), exchanged("b", 300)])])
        .then("recall", [refused(), refused()]);
    let error = recall(&context(&with_iam(), &script, &Clock::manual()))
        .await
        .unwrap_err();
    assert_eq!(
        (error.code(), error.is_retryable()),
        ("invalid_credentials", false)
    );
    assert_eq!(bearers(&script).len(), 2);

    // A key cannot be renewed.
    let script = Script::of([refused()]);
    recall(&context(&with_key(), &script, &Clock::manual()))
        .await
        .unwrap_err();
    assert_eq!(script.seen().len(), 1);
}

#[tokio::test]
async fn a_hundred_callers_exchange_once() {
    let gated = Reply::Gated(Box::new(exchanged("a", 300)));
    let script = Script::new([(EXCHANGE, [gated])]);
    let context = context(&with_iam(), &script, &Clock::manual());
    let tasks: Vec<_> = (0..100)
        .map(|_| {
            tokio::spawn({
                let context = context.clone();
                async move { recall(&context).await }
            })
        })
        .collect();
    script.waiting.acquire().await.unwrap().forget();
    script.gate.add_permits(1);
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(script.seen_at(EXCHANGE).len(), 1);
    assert_eq!(bearers(&script).len(), 100);
}

#[tokio::test]
async fn what_the_iam_answers() {
    let table: [(Reply, &str, bool); 11] = [
        (
            Reply::Json(401, json!({"detail": "invalid_token"})),
            "iam_invalid_token",
            false,
        ),
        (
            Reply::Json(403, json!({"detail": "audience_not_allowed"})),
            "iam_audience_not_allowed",
            false,
        ),
        (Reply::Json(404, json!({})), "iam_exchange_failed", false),
        (Reply::Json(302, json!({})), "iam_exchange_failed", false),
        (Reply::Json(429, json!({})), "iam_exchange_failed", true),
        (Reply::Json(500, json!({})), "iam_exchange_failed", true),
        (Reply::Refused, "iam_unreachable", true),
        (Reply::Large, "iam_exchange_malformed", false),
        (Reply::Text(200, "<html>"), "iam_exchange_malformed", false),
        (
            Reply::Json(200, json!({"accessToken": "", "expiresIn": 300})),
            "iam_exchange_malformed",
            false,
        ),
        (
            Reply::Json(200, json!({"accessToken": "a", "expiresIn": "soon"})),
            "iam_exchange_malformed",
            false,
        ),
    ];
    for (number, (reply, code, retryable)) in table.into_iter().enumerate() {
        let script = Script::new([(EXCHANGE, [reply])]);
        let error = recall(&context(&with_iam(), &script, &Clock::manual()))
            .await
            .unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            (code, retryable),
            "{number}"
        );
        assert!(!format!("{error:?}").contains("pat-1"), "{number}");
        assert!(bearers(&script).is_empty(), "{number}");
    }
}

#[tokio::test]
async fn a_token_of_the_environment_has_to_be_declared() {
    for (mode, ok) in [
        (Some("environment"), true),
        (Some("CI"), true),
        (Some("file"), false),
        (None, false),
    ] {
        let mut settings = with_iam();
        settings.iam.as_mut().unwrap().mode = mode.map(str::to_owned);
        let script = Script::new([(EXCHANGE, [exchanged("a", 300)])]);
        let result = recall(&context(&settings, &script, &Clock::manual())).await;
        let code = result.as_ref().err().map(SkillError::code);
        assert_eq!(code, (!ok).then_some("iam_environment_mode_required"), "{mode:?}");
    }
}

fn settings(variables: &[(&str, &str)]) -> Result<CoreSettings, SkillError> {
    let variables = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    CoreSettings::read(&Environment::from_vars(variables))
}

#[test]
fn settings_of_the_environment() {
    let read = settings(&[
        ("CONTROL_PLANE_URL", " https://cp// "),
        ("CONTROL_PLANE_SERVER", "https://s"),
        ("CONTROL_PLANE_IAM_URL", "https://iam/"),
        ("CONTROL_PLANE_IAM_SCOPES", "a:read, b:read  c:read"),
        ("CONTROL_PLANE_API_KEY", "key\n"),
    ])
    .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.url, "https://cp");
    assert_eq!(read.api_key.as_deref(), Some("key"));
    let iam = read.iam.unwrap_or_else(|| panic!("there is an IAM"));
    assert_eq!(
        (iam.url.as_str(), iam.audience.as_str()),
        ("https://iam", "control-plane")
    );
    assert_eq!(iam.scopes, ["a:read", "b:read", "c:read"]);

    let code = |variables| {
        settings(variables)
            .err()
            .map(|error| (error.code().to_owned(), error.is_retryable()))
    };
    let failure = |code: &str| Some((code.to_owned(), true));
    assert_eq!(code(&[]), failure("config_missing"));
    assert_eq!(code(&[("CONTROL_PLANE_URL", " ")]), failure("config_missing"));
    assert_eq!(code(&[("CONTROL_PLANE_SERVER", "http://s")]), None);
    for bad in [
        "core:8000",
        "ftp://core",
        "http://user:pass@core",
        "http://core?x=1",
    ] {
        let error = settings(&[("CONTROL_PLANE_URL", bad)]).err();
        let error = error.unwrap_or_else(|| panic!("{bad} is refused"));
        assert_eq!(error.code(), "config_invalid", "{bad}");
        assert!(!format!("{error:?}").contains("pass"), "{bad}");
    }
}

/// How many cases are replayed here; `tests/tests/replayed.rs` adds up.
const REPLAYED: usize = 2;

#[test]
fn the_recorded_addresses() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/context.json");
    let Ok(text) = std::fs::read_to_string(path) else {
        eprintln!("skipped: the recorded cases are not at {path}");
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let cases = document["cases"].as_array().unwrap().iter();
    let mut seen = 0;
    for case in cases.filter(|case| case["id"].as_str().unwrap().starts_with("core-")) {
        seen += 1;
        let variables: Vec<_> = case["input"]["env"].as_object().unwrap().iter().collect();
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
            .collect();
        match settings(&variables) {
            Ok(settings) => assert_eq!(case["expect"]["ok"], settings.url, "{}", case["id"]),
            Err(error) => {
                let expected = &case["expect"]["error"];
                assert_eq!(expected["code"], error.code(), "{}", case["id"]);
                assert_eq!(expected["retryable"], error.is_retryable(), "{}", case["id"]);
            }
        }
    }
    assert_eq!(seen, REPLAYED);
}

#[tokio::test]
async fn without_a_credential_nothing_is_sent() {
    let script = Script::of::<0>([]);
    let settings = CoreSettings {
        api_key: None,
        ..with_key()
    };
    let error = recall(&context(&settings, &script, &Clock::manual()))
        .await
        .unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("config_missing", true));
    assert!(script.seen().is_empty());
}

#[test]
fn one_client_for_each_environment() {
    let environment = |url: &str| Environment::from_vars([("CONTROL_PLANE_URL".to_owned(), url.to_owned())]);
    let client =
        |url: &str| CoreClient::of_environment(&environment(url)).unwrap_or_else(|error| panic!("{error}"));
    let first = client("http://one-client.test");
    assert!(Arc::ptr_eq(&first, &client("http://one-client.test/")));
    assert!(!Arc::ptr_eq(&first, &client("http://two-clients.test")));
}
