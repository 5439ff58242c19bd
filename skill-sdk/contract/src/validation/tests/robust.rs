//! What holds for any document: no panic, pointers that lead somewhere, verdicts that agree.

use std::path::Path;

use serde_json::{Value, json};

use super::super::{Stage, Violation, normalize, validate, validate_spec};
use super::minimal;
use crate::tree::places;

/// Checks a document as contract and as spec, and what is said about it.
fn hold(document: &Value) {
    for stage in [Stage::Source, Stage::Publication] {
        let found = validate(document, stage);
        places_exist(document, &found);
        places_exist(document, &validate_spec(document, stage));
        match normalize(document, stage) {
            Ok(normal) => {
                assert!(!found.iter().any(Violation::is_blocking), "{document}");
                assert_eq!(normalize(&normal, stage).unwrap(), normal, "{document}");
            }
            Err(same) => assert_eq!(same, found, "{document}"),
        }
    }
}

/// A violation is about a field that is there, or about one that is missing where it belongs.
fn places_exist(document: &Value, found: &[Violation]) {
    for violation in found {
        let pointer = violation.pointer.as_str();
        let around = pointer.rsplit_once('/').map_or("", |(around, _)| around);
        assert!(document.pointer(around).is_some(), "{violation} in {document}");
        assert!(!violation.message.contains(['\n', '\r']), "{violation}");
        assert!(!violation.field.is_empty(), "{violation}");
    }
}

#[test]
fn any_value_at_any_place() {
    let values = [
        json!(null),
        json!(false),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("\u{0}/~\n"),
        json!([]),
        json!([null, 1, "a"]),
        json!([[{}]]),
        json!({}),
        json!({"": {"/": {"~": 1}}}),
        json!({"$ref": "#", "$id": "", "properties": {"": {"$ref": "#/properties/"}}}),
    ];
    let full = json!({
        "version": "1", "description": "", "sideEffects": "none", "riskLevel": "low",
        "contract": {
            "inputs": {"properties": {"a": {"type": ["string"], "required": ["b"]}}, "$defs": {"x/y": {"not": {}}}},
            "outputs": {"$ref": "#/$defs/A", "$defs": {"A": {"$anchor": "a"}}},
            "idempotency": "none", "timeoutSeconds": 1, "retryPolicy": {"maxAttempts": 1, "backoffSeconds": 1},
            "requiredPermissions": ["admin"], "preconditions": [], "postconditions": [],
            "costModel": {"unit": "page", "estimate": 1},
            "implementation": {"protocol": "http", "endpoint": "https://x", "entrypoint": "x", "auth": {"scopes": ["a"]}},
        },
    });
    assert_eq!(validate_spec(&full, Stage::Publication), []);
    for place in places(&full, "") {
        for value in &values {
            let mut spec = full.clone();
            *spec.pointer_mut(&place.pointer).unwrap() = value.clone();
            hold(&spec);
            hold(spec.get("contract").unwrap_or(&spec));
        }
    }
}

/// Every object in the recordings about schemas and publication, as a contract and as a schema.
#[test]
fn everything_that_is_recorded() {
    for file in ["publication.json", "schema.json"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../../shared/cases")
            .join(file);
        let Ok(text) = std::fs::read(&path) else {
            eprintln!("skipped: the recorded cases are not there");
            return;
        };
        let recorded: Value = serde_json::from_slice(&text).unwrap();
        for case in recorded["cases"].as_array().unwrap() {
            for node in places(&case["input"], "")
                .iter()
                .filter(|node| node.value.is_object())
            {
                hold(node.value);
                let mut contract = minimal();
                contract["inputs"] = node.value.clone();
                hold(&contract);
            }
        }
    }
}
