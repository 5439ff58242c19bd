//! The plan beside the validator: what the plan accepts, the parser and the validator accept.

pub(in crate::validation) mod generated;
mod limits;

use std::fs;

use serde_json::{Map, Value, json};

use super::Scan;
use crate::contract::json;
use crate::validation::dialect::compile;

/// Whether the parser and the validator take the text, and it is an object.
fn is_right(schema: &Value, text: &str) -> bool {
    let validator = compile(schema).unwrap();
    json::parse(text.as_bytes()).is_ok_and(|value| value.is_object() && validator.is_valid(&value))
}

/// Fails when the plan accepts what is not right. Gives whether it is right, and whether the plan accepts it.
fn compare(schema: &Value, scan: &Scan, text: &str) -> (bool, bool) {
    let (right, accepted) = (is_right(schema, text), scan.accepts(text));
    assert!(right || !accepted, "accepted against {schema}: {text}");
    (right, accepted)
}

fn in_an_object(schema: &Value) -> Value {
    let mut root = json!({"type": "object", "properties": {"v": schema}});
    if let Some(definitions) = schema.get("$defs") {
        root["$defs"] = definitions.clone();
    }
    root
}

/// A schema, and three lists of texts.
type Row = (
    Value,
    &'static [&'static str],
    &'static [&'static str],
    &'static [&'static str],
);

/// Each schema with texts that it takes, and that the plan should take, texts that it takes and the plan may leave to the
/// validator, and texts that it does not take.
#[test]
#[allow(clippy::too_many_lines, reason = "one table")]
fn right_is_right_and_mostly_fast() {
    let table: &[Row] = &[
        (
            json!(true),
            &[
                "1",
                "-0.5e-3",
                "\"\"",
                "[[], {\"a\": {}}]",
                "null",
                "\"\\u00e9\\ud83d\\ude00\"",
            ],
            &[],
            &[
                "01",
                "1.",
                ".5",
                "+1",
                "-",
                "1e",
                "1e400",
                "nul",
                "\"\u{1}\"",
                "\"\\x\"",
                "\"\\ud83d\"",
                "\"\\ude00\"",
                "[1,]",
                "{\"a\":1,}",
                "{a:1}",
                "[1 2]",
                "{\"$serde_json::private::RawValue\":\"1\"}",
                "{\"\\u0024serde_json::private::x\":1}",
                "\"\\u12\"",
                "tru",
                "NaN",
                "\u{feff}1",
            ],
        ),
        (json!(false), &[], &[], &["1", "null"]),
        (
            json!({"type": "integer"}),
            &["0", "-17", "999999999999999999", "9999999999999999999"],
            &["1.0", "1e3", "-0", "123456789012345678901234567890"],
            &["1.5", "\"1\"", "null"],
        ),
        (
            json!({"type": "number"}),
            &["0", "1.25", "1e300", "-1.5E+3", "123456789012345678901234567890"],
            &[],
            &["\"1\"", "1e400", "-1e999"],
        ),
        (
            json!({"type": ["string", "null"]}),
            &["null", "\"x\""],
            &[],
            &["1", "[]"],
        ),
        (
            json!({"type": "integer", "minimum": 0, "maximum": 255}),
            &["0", "255"],
            &["255.0"],
            &["256", "-1"],
        ),
        (
            json!({"type": "integer", "minimum": 0, "maximum": 18_446_744_073_709_551_616.0}),
            &["0", "999999999999999999", "18446744073709551615"],
            &[],
            &["-1"],
        ),
        (
            json!({"exclusiveMinimum": 0, "exclusiveMaximum": 1.5}),
            &["1", "0.5", "1.4999"],
            &[],
            &["0", "1.5", "2", "-0.0"],
        ),
        (
            json!({"minimum": 0.5, "maximum": 2.5}),
            &["1", "2", "0.5", "2.5"],
            &[],
            &["0", "3", "0.49999999999999994"],
        ),
        (
            json!({"minimum": -1e300, "maximum": 1e300}),
            &["1", "-1e300", "5e200"],
            &[],
            &["-1.1e300", "1e301"],
        ),
        (
            json!({"minimum": 9_007_199_254_740_993_i64}),
            &["9007199254740993", "9007199254740994.0"],
            &[],
            &["9007199254740992"],
        ),
        (
            json!({"multipleOf": 3}),
            &["0", "9", "-3", "3.0"],
            &[],
            &["1", "-4"],
        ),
        (json!({"multipleOf": 0.5}), &["1", "1.5"], &[], &["0.7"]),
        (
            json!({"minLength": 2, "maxLength": 3}),
            &["\"ab\"", "\"\u{1F600}éa\"", "\"\\u00e9\\n\"", "1"],
            &[],
            &["\"a\"", "\"abcd\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\""],
        ),
        (
            json!({"enum": ["a", "é", 1, null, true, [1], 1.5]}),
            &[
                "\"a\"",
                "\"\\u0061\"",
                "\"é\"",
                "1",
                "null",
                "true",
                "1.0",
                "[1]",
                "1.5",
            ],
            &[],
            &["\"b\"", "2", "false", "[]", "{}"],
        ),
        (json!({"const": false}), &["false"], &[], &["0", "null", "true"]),
        (
            json!({"items": {"type": "integer"}, "minItems": 1, "maxItems": 2}),
            &["[1]", "[1, 2]", "{}"],
            &["[1.0]"],
            &["[]", "[1,2,3]", "[\"a\"]"],
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "boolean"}}),
            &["[]", "[\"a\"]", "[\"a\",true]"],
            &[],
            &["[1]", "[\"a\",1]"],
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true}),
            &["[1,2]", "[]"],
            &[],
            &["[1,1]", "[1,1.0]", "[1"],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "integer"}, "b\n": true}, "required": ["a", "c"],
                "additionalProperties": {"type": "string"}}),
            &[
                "{\"a\":1,\"c\":\"\"}",
                "{\"c\":\"\",\"x\":\"y\",\"\\u0061\":1,\"b\\n\":[]}",
                "{\"a\":1,\"a\":2,\"c\":\"\"}",
            ],
            &["{\"a\":\"x\",\"a\":2,\"c\":\"\"}", "{\"a\":1.0,\"c\":\"\"}"],
            &[
                "{}",
                "{\"a\":1}",
                "{\"a\":1,\"c\":2}",
                "{\"a\":1,\"c\":\"\",\"d\":1}",
                "{\"a\":1,\"c\":\"\",\"a\":null}",
            ],
        ),
        (
            json!({"additionalProperties": false, "properties": {"a": true}}),
            &["{}", "{\"a\":1}"],
            &[],
            &["{\"b\":1}", "{\"a\":1,\"\":1}"],
        ),
        (
            json!({"maxProperties": 1}),
            &["{}", "{\"a\":1}", "{\"a\":1,\"a\":2}"],
            &[],
            &["{\"a\":1,\"b\":2}"],
        ),
        (
            json!({"minProperties": 2}),
            &["{\"a\":1,\"b\":2}"],
            &[],
            &["{\"a\":1}", "{\"a\":1,\"a\":2}"],
        ),
        (
            json!({"type": "string", "pattern": r"^\d+$"}),
            &["\"12\"", "\"\u{0663}\""],
            &[],
            &["\"a\"", "12"],
        ),
        (
            json!({"type": "string", "format": "date"}),
            &["\"2028-02-29\""],
            &[],
            &["\"2026-02-29\""],
        ),
        (
            json!({"type": "integer", "format": "int32"}),
            &["1"],
            &[],
            &["\"1\""],
        ),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            &["1", "null"],
            &["1.0"],
            &["\"a\""],
        ),
        (
            json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            &[],
            &["1.5"],
            &["1", "2.0", "\"\""],
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
            &["1.5", "\"\""],
            &[],
            &["null"],
        ),
        (
            json!({"oneOf": [
                {"type": "object", "properties": {"k": {"enum": ["a"]}, "x": {"type": "integer"}}, "required": ["k", "x"]},
                {"type": "object", "properties": {"k": {"const": "b"}}, "required": ["k"]}]}),
            &["{\"k\":\"a\",\"x\":1}", "{\"x\":1,\"k\":\"a\"}", "{\"k\":\"b\"}"],
            &[],
            &["{\"k\":\"a\"}", "{}", "{\"k\":\"c\"}"],
        ),
        (
            json!({"oneOf": [
                {"type": "object", "properties": {"A": {"type": "integer"}}, "required": ["A"], "additionalProperties": false},
                {"type": "object", "properties": {"B": true}, "required": ["B"], "additionalProperties": false},
                {"type": "string", "enum": ["C"]}]}),
            &["{\"A\":1}", "{\"B\":null}", "\"C\""],
            &[],
            &["{\"A\":1,\"B\":1}", "{}", "\"A\""],
        ),
        (
            json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            &[],
            &["{\"a\":1}"],
            &["{\"a\":1,\"b\":1}", "1"],
        ),
        (
            json!({"oneOf": [{"properties": {"k": {"const": "a"}}}, {"properties": {"k": {"const": "b"}}}]}),
            &[],
            &["{\"k\":\"a\"}"],
            &["{}", "1"],
        ),
        (
            json!({"allOf": [{"type": "integer"}, {"minimum": 3}], "maximum": 5}),
            &["3", "5"],
            &[],
            &["2", "6", "\"\""],
        ),
        (
            json!({"$ref": "#/$defs/T", "$defs": {"T": {"type": ["object", "null"], "properties": {"l": {"$ref": "#/$defs/T"},
                "u": {"type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/T"}}}}}}),
            &["null", "{\"l\":{\"l\":null}}", "{\"u\":[null,{\"l\":null}]}"],
            &[],
            &["1", "{\"l\":{\"l\":1}}", "{\"u\":[null,null]}", "{\"u\":[1]}"],
        ),
        (
            json!({"not": {"type": "string"}, "if": {"type": "integer"}, "then": {"minimum": 3}}),
            &[],
            &["3", "1.5"],
            &["2", "\"\""],
        ),
    ];
    let mut wrong = Vec::new();
    for (schema, fast, right, bad) in table {
        let schema = in_an_object(schema);
        let scan = Scan::compile(&schema).unwrap_or_else(|| panic!("no plan: {schema}"));
        for (texts, expected) in [
            (*fast, (true, true)),
            (*right, (true, false)),
            (*bad, (false, false)),
        ] {
            for text in texts {
                for text in [
                    format!(r#"{{"v":{text}}}"#),
                    format!(" {{ \"v\" :\t{text}\r\n}} "),
                ] {
                    let found = compare(&schema, &scan, &text);
                    if found != expected {
                        wrong.push(format!(
                            "{text}: {found:?}, expected {expected:?} against {schema}"
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_cannot_be_planned_at_the_root_has_no_plan() {
    for schema in [
        json!({"patternProperties": {"a": false}}),
        json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}),
    ] {
        assert!(Scan::compile(&schema).is_none(), "{schema}");
    }
    let endless = json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}});
    let scan = Scan::compile(&endless).unwrap();
    assert!(!scan.accepts(r#"{"a": 1}"#));
}

#[test]
fn a_reference_under_unique_items_is_followed() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "array", "uniqueItems": true, "items": {"$ref": "#"}},
    }});
    let scan = Scan::compile(&schema).unwrap();
    assert!(compare(&schema, &scan, r#"{"a": [{}, {"a": []}]}"#).1);
    assert!(!compare(&schema, &scan, r#"{"a": [{}, {}]}"#).1);
    assert!(!compare(&schema, &scan, r#"{"a": [{"a": [1]}]}"#).1);
}

#[test]
fn nesting_is_bounded_as_by_the_parser() {
    let scan = Scan::compile(&json!({"type": "object"})).unwrap();
    for (levels, fits) in [(126, true), (127, false), (100_000, false)] {
        let text = format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(scan.accepts(&text), fits, "{levels}");
        assert_eq!(json::parse(text.as_bytes()).is_ok(), fits, "{levels}");
    }
}

#[test]
fn texts_of_a_large_object_in_any_order() {
    let properties: Map<String, Value> = (0..60)
        .map(|n| (format!("p{n}"), json!({"type": "integer"})))
        .collect();
    let names: Vec<_> = properties.keys().cloned().collect();
    let schema =
        json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false});
    let scan = Scan::compile(&schema).unwrap();
    let text = |names: &mut dyn Iterator<Item = &String>| {
        let members: Vec<_> = names.map(|name| format!("\"{name}\":1")).collect();
        format!("{{{}}}", members.join(","))
    };
    assert!(compare(&schema, &scan, &text(&mut names.iter())).1);
    assert!(compare(&schema, &scan, &text(&mut names.iter().rev())).1);
    assert!(!compare(&schema, &scan, &text(&mut names.iter().skip(1))).1);
}

/// The recorded verdicts: nothing that is wrong is accepted, and most of what is right is.
#[test]
fn recorded_cases() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/schema.json");
    let Ok(text) = fs::read_to_string(path) else {
        eprintln!("skipped: the recorded cases are not at hand (schema.json)");
        return;
    };
    let document: Value = serde_json::from_str(&text).unwrap();
    let (mut right, mut accepted) = (0, 0);
    for case in document["cases"].as_array().unwrap() {
        let (schema, instance) = (&case["input"]["schema"], &case["input"]["instance"]);
        let schema = in_an_object(schema);
        if compile(&schema).is_err() {
            continue;
        }
        let Some(scan) = Scan::compile(&schema) else {
            continue;
        };
        let verdict = compare(&schema, &scan, &json!({"v": instance}).to_string());
        right += usize::from(verdict.0);
        accepted += usize::from(verdict.1);
    }
    assert!(right > 20 && accepted * 10 >= right * 8, "{accepted} of {right}");
}
