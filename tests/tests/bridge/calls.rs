//! Skill discovery by the executor, and the results of calls.

use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::{Bridge, EXECUTOR, PROGRAM, call, failed, python};

#[test]
fn skills_are_found_by_the_type_of_their_entrypoints() {
    let Some(bridge) = Bridge::new(&[]) else { return };
    let output = bridge.executor(&["list"]).output().unwrap();
    let mut listed: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    listed.sort_by_key(|skill| skill["ref"].to_string());
    let own = Command::new(PROGRAM)
        .args(["list", "--format", "json"])
        .output()
        .unwrap();
    let own: Vec<Value> = serde_json::from_slice(&own.stdout).unwrap();
    assert_eq!(listed.len(), own.len());
    for (listed, own) in listed.iter().zip(&own) {
        assert_eq!(
            (&listed["ref"], &listed["entrypoint"]),
            (&own["ref"], &own["entrypoint"])
        );
        let reference = own["ref"].as_str().unwrap();
        let contract = Command::new(PROGRAM)
            .args(["contract", reference])
            .output()
            .unwrap();
        let contract: Value = serde_json::from_slice(&contract.stdout).unwrap();
        assert_eq!(listed["contract"], contract);
        assert!(!listed["description"].as_str().unwrap().is_empty());
    }
    assert!(
        listed
            .iter()
            .any(|skill| skill["entrypoint"] == "local_skills.deep.inner:context")
    );
}

#[test]
fn calls_return_outputs_or_failures() {
    let Some(bridge) = Bridge::new(&[]) else { return };
    let violation = json!({"errors": [{"path": "/", "message": "\"text\" is a required property"}]});
    let cases = [
        (
            call("proc.answer@1", &json!({"text": "я\u{0}\u{d7ff}🙂"})),
            json!({"outputs": {"result": "я\u{0}\u{d7ff}🙂"}, "cost": null}),
        ),
        (
            call("proc.answer@1", &json!({"text": "x".repeat(5_000_000)})),
            json!({"outputs": {"result": "x".repeat(5_000_000)}, "cost": null}),
        ),
        (
            json!({"ref": "proc.context@3", "inputs": {"text": "a"}, "meta": {
                "invocationId": "i", "idempotencyKey": "k", "timeoutSeconds": 7,
                "settings": {"package": "p", "version": "1", "schemaRevision": 1, "values": {"a": [1]}}}}),
            json!({"outputs": {"text": "a", "invocation": "i", "key": "k", "settings": {"a": [1]}, "seconds": 7},
                   "cost": {"units": {"ops": 2.0}}}),
        ),
        (
            json!({"ref": "proc.context@3", "inputs": {}, "meta": {"timeoutSeconds": 0}, "start": "spawn"}),
            json!({"outputs": {"text": null, "invocation": null, "key": null, "settings": {}, "seconds": 40},
                   "cost": {"units": {"ops": 2.0}}}),
        ),
        (
            call("proc.print@1", &json!({})),
            json!({"outputs": {"result": "Ok(true)"}, "cost": null}),
        ),
        (
            call("proc.fail@1", &json!({"kind": "retryable"})),
            failed("upstream_busy", "later", true, &Value::Null),
        ),
        (
            call("proc.fail@1", &json!({"kind": "terminal"})),
            failed("denied", "refused", false, &json!({"why": ["policy", 1]})),
        ),
        (
            call("proc.fail@1", &json!({"kind": "panic"})),
            failed(
                "skill_error",
                "the implementation of the skill panicked",
                false,
                &Value::Null,
            ),
        ),
        (
            call("proc.fail@1", &json!({"kind": "exit"})),
            failed(
                "skill_error",
                "the program with the skills ended without an answer (status 3)",
                false,
                &Value::Null,
            ),
        ),
        (
            call("proc.fail@1", &json!({"kind": "abort"})),
            failed(
                "skill_error",
                "the program with the skills ended without an answer (status -6)",
                false,
                &Value::Null,
            ),
        ),
        (
            call("proc.answer@1", &json!({})),
            failed(
                "input_contract_violation",
                "inputs do not match the skill's input schema",
                false,
                &violation,
            ),
        ),
        (
            call("proc.answer@1", &json!([])),
            failed(
                "bad_request",
                "\"inputs\" must be a JSON object",
                false,
                &Value::Null,
            ),
        ),
        (
            // The executor has time here; its own timeout starts before the timeout of the server.
            json!({"ref": "proc.sleep@1", "inputs": {}, "kill": 60}),
            failed(
                "timeout",
                "proc.sleep@1: the call took longer than 1 s, the timeout of its contract",
                true,
                &Value::Null,
            ),
        ),
    ];
    let calls: Vec<Value> = cases.iter().map(|(call, _)| call.clone()).collect();
    for (answer, (call, expected)) in bridge.run(&calls).iter().zip(&cases) {
        let call = call.to_string();
        assert!(answer == expected, "{}: {}", &call[..call.len().min(200)], {
            let answer = answer.to_string();
            answer.chars().take(500).collect::<String>()
        });
    }
    #[cfg(target_os = "linux")]
    assert_eq!(bridge.running(), Vec::<PathBuf>::new());
}

#[test]
fn invalid_json_is_reported() {
    const SCRIPT: &str = r#"
import json, sys
import local_skills

# A program without a console has none.
sys.stdout, out = None, sys.stdout
for inputs, meta in [
    ({"text": float("nan")}, {}),
    ({"text": "a"}, {"settings": {"values": {1}}}),
    ({"text": "a"}, {"timeoutSeconds": float("inf")}),
    ({"text": "a"}, {"timeoutSeconds": 9}),
]:
    try:
        answer = local_skills.answer.__skill_invoke__(inputs, meta)
    except Exception as error:
        answer = {"code": error.code, "message": error.message, "details": error.details}
    out.write(json.dumps(answer) + "\n")
"#;
    let Some(bridge) = Bridge::new(&[]) else { return };
    let output = bridge.interpreter().args(["-c", SCRIPT]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 4, "{}", String::from_utf8_lossy(&output.stderr));
    let place = answers[0]["details"]["errors"][0]["message"].as_str().unwrap();
    assert_eq!(answers[0]["code"], "input_contract_violation");
    assert!(place.starts_with("inputs are not JSON: "), "{place}");
    for (answer, member) in answers[1..].iter().zip(["settings", "timeoutSeconds"]) {
        let message = answer["message"].as_str().unwrap();
        assert_eq!(answer["code"], "bad_request");
        assert!(
            message.starts_with(&format!("`meta.{member}` is not JSON: ")),
            "{message}"
        );
    }
    assert_eq!(answers[3], json!({"outputs": {"result": "a"}, "cost": null}));
}

#[test]
fn a_caller_that_ignores_sigchld_gets_responses() {
    const SCRIPT: &str = r#"
import json, signal
import local_skills

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(json.dumps(local_skills.answer.__skill_invoke__({"text": "a"})))
"#;
    let Some(bridge) = Bridge::new(&[]) else { return };
    let output = bridge.interpreter().args(["-c", SCRIPT]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let answer = "{\"outputs\": {\"result\": \"a\"}, \"cost\": null}\n";
    assert_eq!(said, answer, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_executor_parses_responses_like_the_recorded_one() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases/executor_http.json");
    let Some(python) = python().filter(|_| cases.exists()) else {
        eprintln!("skipped: the recorded cases are not at hand");
        return;
    };
    let output = Command::new(python)
        .args([EXECUTOR, "answers"])
        .arg(cases)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "{\"cases\": 26}\n");
}
