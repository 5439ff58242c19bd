//! Replays the recorded calls of the HTTP server as lines: the result of a skill does not depend on the transport.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use skill_sdk::Environment;
use skill_sdk::context::States;
use skill_sdk::local::LocalServer;
use skill_sdk::pipeline::{SkillSet, install_panic_hook};
use skill_sdk_tests::cases::{self, Replay, Verdict};
use skill_sdk_tests::sample;

use super::client::Client;

/// The cases in which the specification or the local protocol differs from the recording, with the code.
const DIFFERENT: &[(&str, &str)] = &[
    // The server enforces the timeout of the contract.
    ("slow", "timeout"),
    // The format `date-time` is validated.
    ("fmt-when-space", "input_contract_violation"),
    // An invalid error code is replaced, also if only a line break makes it invalid.
    ("err-code-newline", "skill_error"),
    // Invalid UTF-8 is not JSON.
    ("echo-surrogate", "input_contract_violation"),
    // Exceptions with a `code` attribute exist only in the language of the reference.
    ("err-attrs", ""),
    ("err-attrs-final", ""),
    ("err-attrs-badcode", ""),
    // NaN is written as null, and details are always JSON.
    ("err-return-nan", ""),
    ("err-details-unserializable", ""),
];

/// The cases that are not replayed here, each with the reason.
const LEFT_OUT: &[(&str, &[&str])] = &[("it needs the model client", &["summarize-"])];

/// Whether a case is about HTTP itself: other methods and paths, encoded paths, bodies that are not calls, and bodies
/// that are templates.
fn is_about_http(case: &cases::Case) -> bool {
    let input = &case.input;
    let is_encoded = |target: &str| target.contains('%');
    input["method"] != "POST"
        || input["target"].as_str().is_some_and(is_encoded)
        || input.get("bodyTemplate").is_some()
        || line(input).is_none()
}

/// The line for a recorded request. `None` if its body is not a call.
fn line(input: &Value) -> Option<String> {
    let reference = input["target"].as_str()?.strip_prefix("/skills/")?;
    let body: BTreeMap<String, &RawValue> = serde_json::from_str(input["bodyText"].as_str()?).ok()?;
    let inputs = body.get("inputs")?;
    let meta: Vec<String> = ["invocationId", "idempotencyKey", "settings"]
        .iter()
        .filter_map(|name| Some(format!("\"{name}\":{}", body.get(*name)?)))
        .collect();
    let line = format!(
        "{{\"id\":1,\"skill\":{},\"inputs\":{inputs},\"meta\":{{{}}}}}",
        Value::from(reference),
        meta.join(","),
    );
    inputs.get().starts_with('{').then(|| line.replace('\n', " "))
}

/// Without the texts, which differ from the reference.
fn comparable(mut error: Value) -> String {
    error["message"] = Value::Null;
    for violation in error
        .pointer_mut("/details/errors")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        violation["message"] = Value::Null;
    }
    error.to_string()
}

fn judge(case: &cases::Case, answer: &Value) -> Result<(), String> {
    if let Some((_, code)) = DIFFERENT.iter().find(|(id, _)| *id == case.id) {
        let got = answer
            .pointer("/error/code")
            .and_then(Value::as_str)
            .unwrap_or_default();
        return if got == *code {
            Ok(())
        } else {
            Err(format!("wanted the code {code:?}"))
        };
    }
    let expected = &case.expect["json"];
    let (got, wanted) = match expected.get("error") {
        Some(error) => (comparable(answer["error"].clone()), comparable(error.clone())),
        None => {
            let cost = case.expect["headers"]["x-skill-cost"].as_str();
            let cost = cost.map_or(Value::Null, |cost| serde_json::from_str(cost).unwrap());
            // Compared as text: the order of fields is part of the protocol. The recorded protocol name is replaced.
            let wanted = json!([expected, cost])
                .to_string()
                .replace("\"protocol\":\"http\"", "\"protocol\":\"local\"");
            (json!([answer["outputs"], answer["cost"]]).to_string(), wanted)
        }
    };
    if got == wanted {
        Ok(())
    } else {
        Err(format!("wanted {wanted}"))
    }
}

#[test]
fn recorded_calls_match() {
    install_panic_hook();
    let host = SkillSet::with_states(sample::SKILLS.iter().copied(), States::default()).unwrap();
    let client = |environment| Client::of(LocalServer::new(host.clone()).environment(environment));
    let mut plain = client(Environment::from_vars([]));
    let mut secret = client(Environment::from_vars([("EXT_TOKEN".to_owned(), "t".to_owned())]));
    let mut replay = Replay::new(LEFT_OUT);
    for case in &cases::load("http.json") {
        if is_about_http(case) {
            println!("{}: not replayed: it is of HTTP itself", case.id);
            continue;
        }
        let verdict = match line(&case.input).filter(|_| replay.left_out(&case.id).is_none()) {
            None => Verdict::NotReplayed(replay.left_out(&case.id).unwrap_or("no call").to_owned()),
            Some(line) => {
                // One case was recorded with a secret in the environment of the server.
                let client = if case.id == "write-with-secret" {
                    &mut secret
                } else {
                    &mut plain
                };
                client.send(&line);
                let answer = client.take();
                let is_deliberate = DIFFERENT.iter().any(|(id, _)| *id == case.id);
                match judge(case, &answer) {
                    Err(why) => Verdict::Differs(format!("{why}\n  got {answer}")),
                    Ok(()) if is_deliberate => Verdict::Deliberate("the specification decides".to_owned()),
                    Ok(()) => Verdict::Ok,
                }
            }
        };
        replay.report(&case.id, &verdict);
    }
    replay.finish();
    plain.end();
    secret.end();
}
