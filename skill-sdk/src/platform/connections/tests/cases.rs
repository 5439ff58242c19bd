//! The recorded cases of the store and of single steps. Those of whole connections are replayed over the public fake.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::description::Description;
use super::super::store::{Refused, Store};
use super::{core_client, exchanged, store_settings};
use crate::error::SkillError;
use crate::platform::clock::Clock;
use crate::platform::connections::ConnectionStatus;
use crate::platform::core::tests::script::{Reply, Script};
use crate::platform::dates;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/connections.json");

/// What another test replays: its ids begin so.
const ELSEWHERE: [&str; 21] = [
    "info",
    "cache",
    "cache-zero",
    "expiry",
    "expiry-6",
    "revoked",
    "revoked-fresh",
    "revoked-info-cached",
    "expired",
    "pending",
    "not-found",
    "bad-key",
    "sealed",
    "core-down",
    "refused-400",
    "refused-403",
    "refused-404",
    "refused-revoked",
    "oauth2",
    "ref-",
    "cache-bound-",
];

/// How many cases are replayed here; `tests/tests/replayed.rs` adds up.
const REPLAYED: usize = 32;

#[test]
fn the_recorded_cases() {
    let Ok(text) = fs::read_to_string(PATH) else {
        eprintln!("skipped: the recorded cases are not at {PATH}");
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let cases = document["cases"].as_array().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut replayed = 0;
    for case in cases {
        let id = case["id"].as_str().unwrap();
        match id.split('-').next().unwrap() {
            "bao" => runtime.block_on(store(id, &case["input"], &case["expect"])),
            "time" => time(id, &case["input"], &case["expect"]),
            "core" if id != "core-down" => {
                runtime.block_on(core_error(id, &case["input"], &case["expect"]));
            }
            "api" => description(id, &case["input"], &case["expect"]),
            _ => {
                let known = |start: &&str| *start == id || start.ends_with('-') && id.starts_with(*start);
                assert!(
                    ELSEWHERE.iter().any(known),
                    "{id} is neither replayed nor in the list"
                );
                continue;
            }
        }
        replayed += 1;
    }
    assert_eq!(replayed, REPLAYED);
}

/// Reading from a store that answers by a script.
async fn store(id: &str, input: &Value, expect: &Value) {
    let clock = Clock::manual();
    let script = Script::new([(
        "platform-access-tokens:exchange",
        [exchanged(), exchanged(), exchanged()],
    )])
    .then("/agents/me", [Reply::Json(200, json!({"principalId": "p1"}))]);
    for reply in input["script"].as_array().unwrap() {
        script.then("store.test", [recorded(reply)]);
    }
    let store =
        Store::new(&core_client(&script, &clock), &store_settings()).unwrap_or_else(|_| panic!("{id}"));
    let references = input["refs"].as_array().unwrap();
    for (index, reference) in references.iter().enumerate() {
        let seconds = input["advanceBefore"][index].as_f64().unwrap_or_default();
        clock.advance(Duration::from_secs_f64(seconds));
        let got = store.read(reference.as_str().unwrap()).await;
        let expected = &expect["results"][index];
        match got {
            Ok(token) => {
                assert_eq!(expected["token"], token.expose(), "{id}");
                let expires_at = expected["expiresAt"].as_str().and_then(dates::parse);
                assert_eq!(token.expires_at(), expires_at, "{id}");
            }
            Err(Refused::Read(status)) => assert_eq!(expected["refused"], status, "{id}"),
            Err(Refused::Login) => {
                assert_eq!(expected["error"]["details"]["reason"], "login_refused", "{id}");
            }
            Err(Refused::Failed(failure)) => same(id, &failure, &expected["error"]),
        }
    }
    let seen: Vec<_> = script
        .seen_at("store.test")
        .iter()
        .map(|request| {
            json!({
                "method": request.method.as_str(),
                "path": request.url.strip_prefix("http://store.test"),
                "body": request.body,
                "vaultToken": request.header("x-vault-token"),
            })
        })
        .collect();
    assert_eq!(Value::from(seen), expect["requests"], "{id}");
}

fn recorded(reply: &Value) -> Reply {
    let Some(status) = reply[0].as_u64() else {
        // The connection failed or timed out.
        return Reply::Refused;
    };
    let status = u16::try_from(status).unwrap();
    match &reply[1] {
        Value::String(_) => Reply::Text(status, "<html>"),
        document => Reply::Json(status, document.clone()),
    }
}

fn same(id: &str, error: &SkillError, expected: &Value) {
    assert_eq!(expected["code"], error.code(), "{id}");
    assert_eq!(expected["retryable"], error.is_retryable(), "{id}");
    assert_eq!(
        expected["details"],
        *error.details().unwrap_or(&Value::Null),
        "{id}"
    );
}

fn time(id: &str, input: &Value, expect: &Value) {
    // The reference keeps microseconds.
    let time = |value: &Value| {
        let time = dates::parse(value.as_str()?)?;
        Some(time.duration_since(std::time::UNIX_EPOCH).unwrap().as_micros())
    };
    assert_eq!(time(&input["value"]), time(&expect["time"]), "{id}");
}

async fn core_error(id: &str, input: &Value, expect: &Value) {
    let status = u16::try_from(input["status"].as_u64().unwrap()).unwrap();
    let reply = if input["code"] == "transport_error" {
        Reply::Refused
    } else {
        Reply::Json(status, json!({"error": {"code": input["code"]}}))
    };
    let script =
        Script::new([("exchange", [exchanged(), exchanged()])]).then("core.test", [reply.clone(), reply]);
    let core = core_client(&script, &Clock::manual());
    let failure = core.get::<Value>("/agents/me/connections/crm").await;
    same(id, &failure.unwrap_err(), &expect["error"]);
}

fn description(id: &str, input: &Value, expect: &Value) {
    let got: Description = serde_json::from_value(input["body"].clone()).unwrap();
    assert_eq!(expect["key"], *got.key, "{id}");
    assert_eq!(expect["type"], *got.kind, "{id}");
    assert_eq!(
        (expect["status"].as_str(), got.status),
        (Some("active"), ConnectionStatus::Active),
        "{id}"
    );
    assert_eq!(expect["typeVersion"], json!(got.type_version), "{id}");
    assert_eq!(expect["account"], json!(got.account), "{id}");
    assert_eq!(expect["auth"], json!(got.auth), "{id}");
    assert_eq!(expect["settings"], Value::Object(got.settings), "{id}");
    assert_eq!(expect["secretRef"], json!(got.secret_ref), "{id}");
}

#[test]
fn words_of_the_core() {
    let status = |word: &str| serde_json::from_value::<ConnectionStatus>(json!(word)).unwrap();
    for (word, known) in [
        ("active", ConnectionStatus::Active),
        ("pending", ConnectionStatus::Pending),
        ("revoked", ConnectionStatus::Revoked),
        ("expired", ConnectionStatus::Expired),
        ("Active", ConnectionStatus::Other("Active".to_owned())),
    ] {
        assert_eq!(status(word), known);
    }
    let _: Arc<Description> = Arc::new(
        serde_json::from_value(json!({"key": "k", "type": "t", "status": "x", "settings": null})).unwrap(),
    );
}
