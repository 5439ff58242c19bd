//! The recorded calls of the HTTP host, as lines: what a skill gives does not depend on the way to it.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use skill_sdk::Environment;
use skill_sdk::context::States;
use skill_sdk::local::LocalServer;
use skill_sdk::pipeline::{SkillSet, install_panic_hook};
use skill_sdk_tests::{cases, sample};

use super::client::Client;

/// What the specification decides differently from the recording, or what a line makes of it; with the code.
const DIFFERENT: &[(&str, &str)] = &[
    // The host enforces the contract's timeout.
    ("slow", "timeout"),
    // `date-time` is asserted.
    ("fmt-when-space", "input_contract_violation"),
    // An unusable code is refused also when only a line break makes it so.
    ("err-code-newline", "skill_error"),
    // Text that is not Unicode is no JSON.
    ("echo-surrogate", "input_contract_violation"),
    // Foreign exceptions with a `code` attribute are of the reference's language.
    ("err-attrs", ""),
    ("err-attrs-final", ""),
    ("err-attrs-badcode", ""),
    // A number that is none is written as null, and details are always JSON.
    ("err-return-nan", ""),
    ("err-details-unserializable", ""),
];

/// What is recorded of HTTP itself, or needs the model client: other methods and paths, paths that are encoded, bodies that
/// are no calls, and bodies that are written as a template.
fn is_of_http(case: &cases::Case) -> bool {
    let input = &case.input;
    input["method"] != "POST"
        || input["target"]
            .as_str()
            .is_some_and(|target| target.contains('%'))
        || input.get("bodyTemplate").is_some()
        || case.id.starts_with("summarize-")
}

/// The line of a recorded request; none when its body is no call.
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

/// Without the texts, which are our own.
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
            // As text: the order of members is part of the wire. The protocol is told as it is.
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
fn recorded_calls() {
    install_panic_hook();
    let host = SkillSet::with_states(sample::SKILLS.iter().copied(), States::default()).unwrap();
    let client = |environment| Client::of(LocalServer::new(host.clone()).environment(environment));
    let mut plain = client(Environment::from_vars([]));
    let mut secret = client(Environment::from_vars([("EXT_TOKEN".to_owned(), "t".to_owned())]));
    let (mut wrong, mut replayed, all) = (Vec::new(), 0, cases::load("http.json"));
    for case in &all {
        let Some(line) = Some(&case.input).filter(|_| !is_of_http(case)).and_then(line) else {
            continue;
        };
        // One case was recorded with a secret in the environment of the host.
        let client = if case.id == "write-with-secret" {
            &mut secret
        } else {
            &mut plain
        };
        client.send(&line);
        let answer = client.take();
        replayed += 1;
        if let Err(why) = judge(case, &answer) {
            wrong.push(format!("{}: {why}\n  got {answer}", case.id));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(
        all.is_empty() || replayed > 50,
        "only {replayed} calls were replayed"
    );
    plain.end();
    secret.end();
}
