//! Replays the recorded verdicts of the reference implementation on tokens against a server.

use std::net::SocketAddr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use skill_sdk::testing::{KeysAnswer, TestIssuer};
use skill_sdk_tests::cases::{Case, Replay, document, load};
use skill_sdk_tests::raw_http::{Client, Response, request};
use skill_sdk_tests::sample;

use super::{hosted, mounted, verifier_with_clock};

/// The value of a claim in a recorded token.
fn value_of(recorded: &Value, now: u64) -> Value {
    match (&recorded["now"], &recorded["nowAsString"]) {
        (Value::Number(offset), _) => match offset.as_i64() {
            Some(offset) => json!(now.checked_add_signed(offset).unwrap()),
            #[expect(clippy::cast_precision_loss, reason = "timestamps of this century are exact")]
            None => json!(now as f64 + offset.as_f64().unwrap()),
        },
        (_, Value::Number(offset)) => json!((now + offset.as_u64().unwrap()).to_string()),
        _ => recorded.clone(),
    }
}

/// A recorded token: `{claims, alg, kid, signedBy}`.
fn token(issuer: &TestIssuer, recorded: &Value) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let mut token = issuer.token();
    for name in [
        "iss",
        "aud",
        "sub",
        "tenant_id",
        "jti",
        "principal_type",
        "iat",
        "nbf",
        "exp",
    ] {
        token = token.without(name);
    }
    for (name, value) in recorded["claims"].as_object().unwrap() {
        token = token.claim(name, value_of(value, now));
    }
    token = match &recorded["kid"] {
        Value::Null => token.without_header("kid"),
        id => token.header("kid", id.clone()),
    };
    token
        .algorithm(recorded["alg"].as_str().unwrap())
        .signed_by(recorded["signedBy"].as_str().unwrap())
        .sign()
}

/// The `Authorization` header of a case.
fn authorization(issuer: &TestIssuer, recorded: &Value, good: &Value) -> Option<String> {
    match recorded {
        Value::Null => None,
        Value::String(text) => Some(text.replace("<good>", &token(issuer, good))),
        _ => {
            let mut text = token(issuer, &recorded["token"]);
            if recorded["tamper"] == "payload" {
                let end = text.rfind('.').unwrap();
                let other = if &text[end - 1..end] == "A" { "B" } else { "A" };
                text.replace_range(end - 1..end, other);
            }
            let text_of = |name: &str| recorded[name].as_str().unwrap_or_default();
            Some(format!("{}{text}{}", text_of("scheme"), text_of("suffix")))
        }
    }
}

async fn send(address: SocketAddr, input: &Value, authorization: Option<&str>) -> Response {
    let text = |name: &str, default: &'static str| match &input[name] {
        Value::String(text) => text.clone(),
        _ => default.to_owned(),
    };
    let mut headers = vec![("Content-Type", "application/json")];
    headers.extend(authorization.map(|value| ("Authorization", value)));
    let mut client = Client::connect(address).await;
    client
        .send(request(
            &text("method", "POST"),
            &text("target", "/skills/ctx.echo@1"),
            &headers,
            &text("body", r#"{"inputs":{}}"#),
        ))
        .await;
    client.receive().await
}

/// A response without its texts, which differ from the reference.
fn comparable(document: &Value) -> Value {
    let mut document = document.clone();
    if let Some(message) = document.pointer_mut("/error/message") {
        *message = Value::Null;
    }
    document
}

fn judge(case: &Case, answer: &Response) {
    assert_eq!(json!(answer.status), case.expect["status"]);
    let challenge = (answer.status == 401).then_some("Bearer");
    assert_eq!(
        answer.headers.get("www-authenticate").map(String::as_str),
        challenge
    );
    // The reference responds with plain text; this server responds with an error envelope.
    let expected = match &case.expect["json"] {
        Value::Null => json!({"error": {
            "code": "method_not_allowed", "message": null, "retryable": false, "details": null,
        }}),
        expected => comparable(expected),
    };
    assert_eq!(comparable(&answer.json()), expected);
}

/// Sets the response of the JWKS server from a step on.
fn set_keys(issuer: &TestIssuer, recorded: &Value) {
    let entry = |recorded: &Value| {
        let (key, id) = match recorded {
            Value::String(id) => (id.as_str(), recorded),
            _ => (recorded["key"].as_str().unwrap(), &recorded["kid"]),
        };
        issuer.serve_keys([key]);
        let mut entry = issuer.jwks()["keys"][0].clone();
        entry["kid"] = id.clone();
        entry
    };
    let text = |document: Value| KeysAnswer::Text(document.to_string());
    issuer.answer_with(match recorded.as_str() {
        Some("refused") => KeysAnswer::Closed,
        Some("redirect") => KeysAnswer::Redirect,
        Some("nokeys") => text(json!({"other": []})),
        Some("oct") => text(json!({"keys": [{"kty": "oct", "kid": "k1", "k": "c2VjcmV0"}]})),
        Some("broken-entry") => text(json!({"keys": [entry(&json!("k2")), {"kty": "RSA", "kid": "k1"}]})),
        Some(other) => panic!("the replay does not know the verdict {other}"),
        None => {
            let keys = recorded["keys"].as_array().unwrap();
            text(json!({"keys": keys.iter().map(entry).collect::<Vec<_>>()}))
        }
    });
}

/// Replays the steps of a case.
async fn replay_steps(issuer: &TestIssuer, case: &Case, good: &Value) {
    issuer.serve_keys(["k1"]);
    issuer.answer_with(KeysAnswer::Keys);
    let before = issuer.fetches();
    let (verifier, clock) = verifier_with_clock(issuer);
    let address = mounted(hosted(&[sample::context_echo::SKILL], verifier)).await;
    let steps = case.input["steps"].as_array().unwrap();
    let results = case.expect["results"].as_array().unwrap();
    assert_eq!(steps.len(), results.len());
    for (index, (step, expected)) in steps.iter().zip(results).enumerate() {
        if let Some(seconds) = step["clock"].as_u64() {
            clock.age_keys(seconds);
        } else if !step["jwks"].is_null() {
            set_keys(issuer, &step["jwks"]);
        } else {
            let mut recorded = good.clone();
            recorded["kid"] = step["request"]["kid"].clone();
            recorded["signedBy"] = step["request"]["kid"].clone();
            let bearer = format!("Bearer {}", token(issuer, &recorded));
            let answer = send(address, &Value::Null, Some(&bearer)).await;
            let error = comparable(&answer.json())["error"].clone();
            let got = json!({
                "status": answer.status, "error": error, "fetches": issuer.fetches() - before,
            });
            let mut expected = expected.clone();
            if let Some(message) = expected.pointer_mut("/error/message") {
                *message = Value::Null;
            }
            assert_eq!(got, expected, "step {index}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_verdicts() {
    let Some(recorded) = document("auth.json") else {
        return;
    };
    let good = json!({
        "claims": recorded["defaults"]["claims"], "alg": "RS256", "kid": "k1", "signedBy": "k1",
    });
    let issuer = TestIssuer::start_as("https://iam.test", "acme-skills");
    assert_eq!(issuer.add_key(), "k2");
    let address = mounted(hosted(&[sample::context_echo::SKILL], issuer.verifier())).await;

    let mut replay = Replay::new(&[]);
    for case in &load("auth.json") {
        let one = async {
            if case.input["steps"].is_array() {
                replay_steps(&issuer, case, &good).await;
            } else {
                let authorization = authorization(&issuer, &case.input["authorization"], &good);
                let answer = send(address, &case.input, authorization.as_deref()).await;
                judge(case, &answer);
            }
        };
        replay.run(case, one).await;
    }
    replay.finish();
}
