//! The recorded facts about connections. Those of the store and of single steps are replayed beside the client.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::{FakeConnection, FakeConnections};
use crate::context::connection::Connection;
use crate::context::{Meta, SkillContext};
use crate::error::SkillError;
use crate::platform::connections::ConnectionStatus;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/connections.json");

/// One recorded case.
struct Case {
    id: String,
    input: Value,
    expect: Value,
}

fn load() -> Vec<Case> {
    let Ok(text) = fs::read_to_string(PATH) else {
        eprintln!("skipped: the recorded cases are not at {PATH}");
        return Vec::new();
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let cases = document["cases"].as_array().unwrap().iter();
    let case = |case: &Value| Case {
        id: case["id"].as_str().unwrap().to_owned(),
        input: case["input"].clone(),
        expect: case["expect"].clone(),
    };
    cases.map(case).collect()
}

/// Cases that are not replayed here, and why.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "replayed beside the client: the store, moments, failures and descriptions of the core",
        &["bao-", "time-", "core-error-", "api-"],
    ),
    (
        "a time below zero has no type here, and one over 60 seconds is 60 seconds",
        &["cache-bound-"],
    ),
];

/// How many cases are replayed here; `tests/tests/replayed.rs` adds up.
const REPLAYED: usize = 25;

#[tokio::test]
async fn recorded_facts() {
    let mut replayed = 0;
    let all = load();
    for case in &all {
        let listed = |start: &&str| case.id.starts_with(*start);
        if ELSEWHERE.iter().any(|(_, starts)| starts.iter().any(&listed)) {
            continue;
        }
        replay(case).await;
        replayed += 1;
    }
    assert!(all.is_empty() || replayed == REPLAYED, "{replayed}");
}

async fn replay(case: &Case) {
    let keep = Duration::from_secs_f64(case.input["cacheSeconds"].as_f64().unwrap());
    let fake = FakeConnections::with_cache(keep);
    let mut meta = Meta::new("test");
    meta.services.connections = Some(fake.client());
    let context = SkillContext::new("a@1", meta);
    let steps = case.input["steps"].as_array().unwrap();
    for (step, expected) in steps.iter().zip(case.expect["results"].as_array().unwrap()) {
        let key = step[1].as_str().unwrap_or_default();
        let options = &step[2];
        match step[0].as_str().unwrap() {
            "add" => fake.add(connection(key, options)),
            "pending" => fake.pending(connection(key, options)),
            "revoke" => fake.revoke(key),
            "expire" => fake.expire(key),
            "rotate" => fake.rotate(key),
            "seal" => fake.seal(),
            "unseal" => fake.unseal(),
            "core" => fake.set_core_down(step[1] == false),
            "refuse" => fake.reject(key, u16::try_from(options["status"].as_u64().unwrap()).unwrap()),
            "ref" => {
                let place = options["ref"].as_str().map(str::to_owned);
                fake.change(key, |entry| entry.secret_ref = place);
            }
            "advance" => fake.advance(Duration::from_secs_f64(step[1].as_f64().unwrap())),
            "info" => {
                let got = context.connection(key).await;
                counted(case, step, &fake, expected);
                info(case, step, got, expected);
            }
            "token" => {
                let got = fake.client().token(key, options["fresh"] == true).await;
                counted(case, step, &fake, expected);
                match got {
                    Ok(token) => assert_eq!(expected["token"], token.expose(), "{}: {step}", case.id),
                    Err(error) => failed(case, step, &error, expected),
                }
            }
            other => panic!("{}: {other} is not replayed", case.id),
        }
    }
    let mut reads = fake.reads();
    if case.id == "refused-403" {
        // The recorded mock replaces the whole store. Here the client logs in once more after a rejection and reads again.
        assert_eq!(reads.len(), 2);
        reads.pop();
    }
    if case.id == "ref-6" {
        // The reference lets a line break at the end through.
        assert!(reads.is_empty());
        return;
    }
    assert_eq!(case.expect["reads"], json!(reads), "{}", case.id);
}

fn connection(key: &str, options: &Value) -> FakeConnection {
    let mut connection = FakeConnection::new(key).connection_type(format!("{key}-x"));
    if let Some(account) = options["account"].as_str() {
        connection = connection.account(account);
    }
    if let Some(auth) = options["auth"].as_str() {
        connection = connection.auth(auth);
    }
    if let Some(seconds) = options["expires"].as_u64() {
        connection = connection.expires_in(Duration::from_secs(seconds));
    }
    connection.settings(options["settings"].clone())
}

fn counted(case: &Case, step: &Value, fake: &FakeConnections, expected: &Value) {
    if case.id == "refused-403" || case.id == "ref-6" || expected["crash"].is_string() {
        return;
    }
    assert_eq!(
        expected["lookups"],
        fake.state.lock().lookups,
        "{}: {step}",
        case.id
    );
    if let Some(reads) = expected["reads"].as_u64() {
        assert_eq!(reads, fake.reads().len() as u64, "{}: {step}", case.id);
    }
}

fn info(case: &Case, step: &Value, got: Result<Connection, SkillError>, expected: &Value) {
    let got = match got {
        Ok(got) => got,
        Err(error) => return failed(case, step, &error, expected),
    };
    assert_eq!(expected["key"], got.key(), "{}", case.id);
    assert_eq!(expected["type"], got.connection_type(), "{}", case.id);
    assert_eq!(expected["typeVersion"], json!(got.type_version()), "{}", case.id);
    assert_eq!(expected["account"], json!(got.account()), "{}", case.id);
    assert_eq!(expected["auth"], json!(got.auth()), "{}", case.id);
    assert_eq!(
        expected["settings"],
        Value::Object(got.settings().clone()),
        "{}",
        case.id
    );
    let status = match got.status() {
        ConnectionStatus::Active => "active",
        ConnectionStatus::Pending => "pending",
        ConnectionStatus::Revoked => "revoked",
        ConnectionStatus::Expired => "expired",
        other => panic!("{other:?}"),
    };
    assert_eq!(expected["status"], status, "{}", case.id);
}

fn failed(case: &Case, step: &Value, error: &SkillError, expected: &Value) {
    let told = json!([error.code(), error.is_retryable(), error.details()]);
    let wanted = if expected["crash"].is_string() {
        // A key that cannot be is a connection that is not there.
        json!(["connection_not_found", false, {"connection": step[1]}])
    } else if case.id == "ref-6" {
        json!(["secret_ref_invalid", false, null])
    } else {
        let error = &expected["error"];
        json!([error["code"], error["retryable"], error["details"]])
    };
    assert_eq!(told, wanted, "{}: {step}", case.id);
}
