//! Replays the recorded verdicts of a platform.

use serde_json::{Value, json};

use super::super::policy::{KNOWN_PERMISSIONS, check_columns};
use super::super::violation::Found;
use super::super::{Stage, Violation, code, normalize, validate};
use super::minimal_with;

const CASES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/cases/publication.json"
);

/// Where we decide differently, and on purpose: the recorded verdict is "ok" or a crash.
const DIFFERENT: [(&str, &str, &str); 5] = [
    // A schema with a reference that leads nowhere can be stored, but nothing can be validated with it.
    ("dangling-ref", code::INVALID_SKILL_CONTRACT, "inputs"),
    // A line break at the end passes the reference's patterns by accident.
    (
        "impl-local-newline",
        code::INVALID_SKILL_CONTRACT,
        "implementation.entrypoint",
    ),
    (
        "impl-mcp-newline",
        code::INVALID_SKILL_CONTRACT,
        "implementation.entrypoint",
    ),
    (
        "impl-auth-scopes-newline",
        code::INVALID_SKILL_CONTRACT,
        "implementation.auth.scopes",
    ),
    // Crashes the reference.
    ("idempotency-list", code::INVALID_SKILL_CONTRACT, "idempotency"),
];

/// The recorded cases, or nothing when this is not the project's own checkout.
fn recorded() -> Option<Value> {
    match std::fs::read_to_string(CASES) {
        Ok(text) => Some(serde_json::from_str(&text).unwrap()),
        Err(error) => {
            eprintln!("skipped: the recorded cases are not there ({error})");
            None
        }
    }
}

/// The contract of a case. Two big ones are recorded as a recipe.
fn contract_of(case: &Value) -> Option<Value> {
    let of_description = |text: String| minimal_with(&json!({"inputs": {"description": text}}));
    match case["id"].as_str().unwrap() {
        "bytes-over" => Some(of_description("x".repeat(65536))),
        "bytes-cyrillic" => Some(of_description("я".repeat(11000))),
        _ => case["input"].get("contract").cloned(),
    }
}

/// What we make of a case: the document as it would be stored, or the violations.
fn verdict(case: &Value) -> Result<Value, Vec<Violation>> {
    let input = &case["input"];
    if let Some(contract) = contract_of(case) {
        return normalize(&contract, Stage::Publication);
    }
    let mut found = Found::default();
    let (side_effects, risk) = (&input["sideEffects"], &input["riskLevel"]);
    if let Some(attempts) = input["maxAttempts"].as_u64() {
        let idempotency = input["idempotency"].as_str().unwrap();
        let rule = crate::rules::safe_retries(side_effects.as_str().unwrap(), idempotency, attempts);
        found.rule(rule, "retryPolicy.maxAttempts");
        return found
            .0
            .pop()
            .map_or(Ok(Value::Null), |violation| Err(vec![violation]));
    }
    let columns = json!({"sideEffects": side_effects, "riskLevel": risk});
    check_columns(columns.as_object().unwrap(), &mut found);
    if found.0.is_empty() {
        Ok(json!([side_effects, risk]))
    } else {
        Err(found.0)
    }
}

#[test]
fn every_recorded_verdict_is_ours() {
    let Some(recorded) = recorded() else { return };
    let cases = recorded["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 134);
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let verdict = verdict(case);
        let different = DIFFERENT.iter().find(|(other, ..)| *other == id);
        let expected = match different {
            Some((_, code, field)) => Some((*code, *field)),
            None => case["expect"].get("error").map(|error| {
                // Only the limit on depth is recorded without a field.
                let field = error["details"]["field"].as_str().unwrap_or("contract");
                (error["code"].as_str().unwrap(), field)
            }),
        };
        match (expected, verdict) {
            (None, Ok(document)) => {
                // As texts: the order of keys counts.
                assert_eq!(document.to_string(), case["expect"]["ok"].to_string(), "{id}");
            }
            (Some(expected), Err(found)) => {
                let first = found.iter().find(|violation| violation.is_error()).unwrap();
                assert_eq!((first.code, first.field), expected, "{id}: {found:#?}");
                details_agree(id, first, &case["expect"]["error"]["details"]);
            }
            (expected, verdict) => panic!("{id}: expected {expected:?}, got {verdict:#?}"),
        }
    }
}

/// The recorded details in our terms: a path inside of the field is the rest of the pointer, counts are in the message.
fn details_agree(id: &str, violation: &Violation, details: &Value) {
    if let Some(path) = details["path"].as_str() {
        let path = path.replace(['[', '.'], "/").replace(']', "");
        let field = violation.field.replace('.', "/");
        assert_eq!(
            violation.pointer,
            format!("/{field}/{}", path.trim_start_matches('/')),
            "{id}"
        );
    }
    if let Some(index) = details["index"].as_u64() {
        assert!(
            violation.pointer.ends_with(&format!("/{index}")),
            "{id}: {violation}"
        );
    }
    if let Some(bytes) = details["actualBytes"].as_u64() {
        assert!(
            violation.message.contains(&bytes.to_string()),
            "{id}: {violation}"
        );
    }
}

/// Several unknown names are one recorded error and one violation each here.
#[test]
fn unknown_names_are_reported_one_by_one() {
    let Some(recorded) = recorded() else { return };
    for case in recorded["cases"].as_array().unwrap() {
        let Some(unknown) = case["expect"]["error"]["details"]["unknown"].as_array() else {
            continue;
        };
        let found = validate(&contract_of(case).unwrap(), Stage::Publication);
        for name in unknown {
            let name = name.as_str().unwrap();
            assert!(
                found.iter().any(|violation| violation.message.contains(name)),
                "{name}: {found:#?}"
            );
        }
        assert_eq!(found.len(), unknown.len(), "{}", case["id"]);
    }
}

#[test]
fn the_list_of_permissions_is_the_recorded_one() {
    let Some(recorded) = recorded() else { return };
    let known: Vec<&str> = KNOWN_PERMISSIONS.split(' ').collect();
    assert_eq!(recorded["knownPermissions"], json!(known));
}
