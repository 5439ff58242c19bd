//! The table of keywords against a real validator and its copy of the meta-schema.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use super::super::schema;
use super::super::violation::Found;
use crate::keywords::{KEYWORDS, TYPES};
use crate::tree::{Role, places};

/// Whether the table accepts the schema. The rules that `refs` and `schema` check instead of the table are added here; broken regular
/// expressions are left out, since the validator finds them only when it compiles a schema.
fn ours(schema: &Value) -> bool {
    let places = places(schema, "");
    let mut found = Found::default();
    schema::check_keywords(&places, "inputs", &mut found);
    found
        .0
        .retain(|violation| !violation.message.contains("regular expression"));
    let text = |node: &Value, key: &str| node.get(key).is_none_or(Value::is_string);
    let schemas = places.iter().filter(|node| node.role == Role::Schema);
    let references = schemas
        .map(|node| node.value)
        .all(|node| text(node, "$ref") && text(node, "$dynamicRef"));
    found.0.is_empty() && references && text(schema, "$schema")
}

fn theirs(schema: &Value) -> bool {
    jsonschema::draft202012::meta::is_valid(schema)
}

/// Compares the verdicts and returns the common one.
fn same(schema: &Value) -> bool {
    let (ours, theirs) = (ours(schema), theirs(schema));
    assert_eq!(ours, theirs, "(ours, theirs) on {schema}");
    ours
}

/// Values that are right for one keyword and wrong for another.
fn samples() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.0),
        json!(0.5),
        json!(-0.5),
        json!(1e300),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(""),
        json!("string"),
        json!("a-b.c_1"),
        json!("a b"),
        json!("integer"),
        json!("https://example.com/a"),
        json!([]),
        json!(["a"]),
        json!(["a", "a"]),
        json!(["string", "null"]),
        json!(["string", "string"]),
        json!(["string", 1]),
        json!([{}]),
        json!([true, {"type": "array"}]),
        json!([{"type": "list"}]),
        json!([1]),
        json!([null]),
        json!({}),
        json!({"a": true}),
        json!({"a": {}}),
        json!({"a": {"minimum": 1}}),
        json!({"a": {"minimum": "1"}}),
        json!({"a": []}),
        json!({"a": ["b"]}),
        json!({"a": ["b", "b"]}),
        json!({"a": [1]}),
        json!({"a": 1}),
        json!({"type": "object", "properties": {"a": {"required": ["b"]}}}),
        json!({"type": "object", "properties": {"a": {"required": "b"}}}),
        json!({"properties": {"properties": {"properties": {"type": 1}}}}),
    ]
}

#[test]
fn every_keyword_with_every_sample() {
    let samples = samples();
    let mut verdicts = [0, 0];
    for (keyword, _) in KEYWORDS {
        for sample in &samples {
            for schema in [
                json!({*keyword: sample}),
                json!({"properties": {"x": {*keyword: sample}}}),
            ] {
                verdicts[usize::from(same(&schema))] += 1;
            }
        }
    }
    assert!(verdicts.iter().all(|count| *count > 500), "{verdicts:?}");
}

#[test]
fn unknown_keywords_hold_anything() {
    for sample in samples() {
        for keyword in ["x-own", "nullable", "minimun", "Type", "id", "$async"] {
            assert!(same(&json!({keyword: sample})));
        }
    }
}

#[test]
fn schemas_that_people_write() {
    let good = [
        json!(true),
        json!(false),
        json!({"type": ["object", "null"], "additionalProperties": false}),
        json!({"type": "array", "prefixItems": [{"type": "number"}, true], "items": false, "minItems": 2}),
        json!({"oneOf": [{"const": null}, {"enum": ["a", 1, null, {}]}], "description": "x", "default": [1]}),
        json!({"$defs": {"Node": {"properties": {"next": {"$ref": "#/$defs/Node"}}}}, "$ref": "#/$defs/Node"}),
        json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": {"maxProperties": 0}}),
        json!({"patternProperties": {"^x-": {}}, "propertyNames": {"pattern": "^[a-z]+$"}}),
        json!({"dependentRequired": {"card": ["address"]}, "dependentSchemas": {"card": {"minProperties": 2}}}),
        json!({"contains": {"type": "integer"}, "minContains": 0, "maxContains": 2.0, "uniqueItems": true}),
        json!({"type": "string", "format": "date-time", "contentEncoding": "base64", "contentSchema": {}}),
        json!({"minimum": -1.5, "exclusiveMaximum": 10, "multipleOf": 0.01, "examples": [1], "readOnly": true}),
        json!({"definitions": {"A": {}}, "dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
        json!({"unevaluatedProperties": false, "unevaluatedItems": {"not": {}}, "deprecated": false}),
        json!({"properties": {"type": {"type": "string"}, "enum": {"type": "array"}, "required": true}}),
        json!({"$id": "https://example.com/a#", "$anchor": "a", "$dynamicAnchor": "b", "$comment": ""}),
    ];
    let bad = [
        json!({"type": "any"}),
        json!({"type": "String"}),
        json!({"type": []}),
        json!({"type": null}),
        json!({"required": true, "type": "object"}),
        json!({"properties": {"a": "string"}}),
        json!({"properties": [{"name": "a"}]}),
        json!({"items": [{"type": "string"}]}),
        json!({"enum": "a|b"}),
        json!({"minLength": "1"}),
        json!({"maxItems": -1}),
        json!({"maxItems": 1.5}),
        json!({"multipleOf": -0.0}),
        json!({"exclusiveMinimum": true, "minimum": 0}),
        json!({"allOf": {}}),
        json!({"anyOf": [{"type": "string"}, "null"]}),
        json!({"additionalProperties": "no"}),
        json!({"pattern": 1}),
        json!({"format": null}),
        json!({"description": ["a", "b"]}),
        json!({"examples": "a"}),
        json!({"dependentRequired": {"a": ["b", "b"]}}),
        json!({"dependencies": {"a": "b"}}),
        json!({"$defs": {"A": {"$defs": {"B": {"not": 1}}}}}),
        json!({"$anchor": "#a"}),
        json!({"$id": "a#b"}),
        json!({"$vocabulary": {"https://example.com": 1}}),
        json!({"deprecated": "yes"}),
    ];
    for schema in &good {
        assert!(same(schema), "{schema}");
    }
    for schema in &bad {
        assert!(!same(schema), "{schema}");
    }
}

/// Every object of the recorded cases is a candidate: real schemas, and a lot that only looks like one.
#[test]
fn everything_that_is_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/cases");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: the recorded cases are not there");
        return;
    };
    let mut verdicts = [0, 0];
    for path in files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
    {
        let document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        for node in places(&document, "").iter().filter(|node| node.value.is_object()) {
            verdicts[usize::from(same(node.value))] += 1;
        }
    }
    assert!(verdicts.iter().all(|count| *count > 100), "{verdicts:?}");
}

/// A schema of a few keywords. Each value is right, a sample, or a schema again.
fn any_schema() -> impl Strategy<Value = Value> {
    let keyword = prop::sample::select(KEYWORDS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let right = prop_oneof![
        (0..9_u32).prop_map(|count| json!({"minLength": count, "maximum": -1.5})),
        prop::sample::subsequence(TYPES.to_vec(), 1..3).prop_map(|types| json!({"type": types})),
        Just(json!({"properties": {"a": {"type": "string"}}, "required": ["a"]})),
    ];
    let sample =
        (keyword.clone(), prop::sample::select(samples())).prop_map(|(key, value)| json!({key: value}));
    let leaf = prop_oneof![3 => right, 1 => sample];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let nested = (keyword.clone(), inner.clone(), 0..4_u8).prop_map(|(key, schema, form)| match form {
            0 => json!({key: schema}),
            1 => json!({key: [schema]}),
            2 => json!({key: {"a": schema}}),
            _ => json!({"properties": {key: schema}}),
        });
        prop::collection::vec(prop_oneof![inner, nested], 1..4).prop_map(|parts| {
            let merged = parts.into_iter().filter_map(|part| match part {
                Value::Object(members) => Some(members),
                _ => None,
            });
            Value::Object(merged.flatten().collect::<Map<_, _>>())
        })
    })
}

#[test]
fn schemas_made_up_at_random() {
    let config = Config {
        cases: 3000,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let valid = std::cell::Cell::new(0);
    runner
        .run(&any_schema(), |schema| {
            prop_assert_eq!(ours(&schema), theirs(&schema));
            valid.set(valid.get() + u32::from(ours(&schema)));
            Ok(())
        })
        .unwrap();
    assert!(
        (500..2500).contains(&valid.get()),
        "{} of 3000 are valid: the mix says little",
        valid.get()
    );
}
