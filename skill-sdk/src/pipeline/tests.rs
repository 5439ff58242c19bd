//! The recorded verdicts of schema checks.

use std::fs;

use serde_json::Value;

use crate::validation::{Invalid, Schema};

/// Where the specification decides differently from the recording: whether the instance is valid here.
const DIFFERENT: &[(&str, bool)] = &[
    // All standard formats are asserted.
    ("s137", false), // date-time
    ("s141", false), // time
    ("s144", false), // e-mail: `@` alone
    ("s145", false), // e-mail: two signs
    ("s157", false), // hostname
    ("s158", false), // hostname
    ("s159", false), // uri
    ("s166", false), // json-pointer
    ("s167", false), // uri-reference
    ("s168", false), // iri
];

/// Recorded as crashes of the reference; here the schema itself is rejected, or works.
const CRASHES: &[(&str, bool)] = &[
    ("s072", false), // a regular expression that is none
    ("s073", true),  // a Unicode class, which the dialect of JSON Schema knows
    ("s111", false), // a reference into nowhere
    ("s179", false), // a type that does not exist
];

#[test]
fn recorded_verdicts_order_and_paths() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/schema.json");
    let Ok(text) = fs::read_to_string(path) else {
        eprintln!("skipped: the recorded cases are not at hand (schema.json)");
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let mut wrong = Vec::new();
    for case in document["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let (schema, instance) = (&case["input"]["schema"], &case["input"]["instance"]);
        let validator = Schema::compile(schema);
        if let Some((_, usable)) = CRASHES.iter().find(|(crash, _)| *crash == id) {
            if validator.is_ok() != *usable {
                wrong.push(format!("{id}: usable {}", validator.is_ok()));
            }
            continue;
        }
        let Ok(validator) = validator else {
            wrong.push(format!("{id}: {}", validator.unwrap_err()));
            continue;
        };
        let found = validator
            .validate_value(instance)
            .map_err(Invalid::into_violations);
        if let Some((_, valid)) = DIFFERENT.iter().find(|(different, _)| *different == id) {
            if found.is_ok() != *valid {
                wrong.push(format!("{id}: {found:?}"));
            }
            continue;
        }
        let paths: Vec<_> = found
            .err()
            .unwrap_or_default()
            .into_iter()
            .map(|found| found.path)
            .collect();
        let expected: Vec<_> = case["expect"]["errors"]
            .as_array()
            .unwrap_or_else(|| panic!("{id} has errors"))
            .iter()
            .map(|error| error["path"].as_str().unwrap().to_owned())
            .collect();
        if paths != expected {
            wrong.push(format!("{id}: {paths:?}, recorded {expected:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Violations at one path come in the order of the keywords in the schema.
#[test]
fn keyword_order_decides_at_one_place() {
    for keywords in [["type", "minLength", "pattern"], ["pattern", "type", "minLength"]] {
        let rule = |keyword: &str| match keyword {
            "type" => ("type", Value::from("integer")),
            "minLength" => ("minLength", 5.into()),
            _ => ("pattern", "^[0-9]+$".into()),
        };
        let property: serde_json::Map<_, _> = keywords
            .iter()
            .map(|keyword| rule(keyword))
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        for schema in [
            serde_json::json!({"properties": {"a": property}}),
            serde_json::json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": property}}),
            serde_json::json!({"properties": {"a": {"allOf": [property]}}}),
        ] {
            let schema = Schema::compile(&schema).unwrap();
            let found = schema.validate_value(&serde_json::json!({"a": "x"}));
            let found = found.unwrap_err().into_violations();
            let order: Vec<_> = found
                .iter()
                .map(|found| match found.message.as_str() {
                    message if message.contains("type") => "type",
                    message if message.contains("shorter") => "minLength",
                    _ => "pattern",
                })
                .collect();
            assert_eq!(order, keywords, "{found:?}");
        }
    }
}
