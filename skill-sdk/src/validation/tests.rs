//! Verdicts beside `jsonschema`, what is reported, and what it costs.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::scan::tests::generated::{root, value};
use super::walk::{Mode, Walk};
use super::*;

fn found(schema: &Value, instance: &Value) -> Vec<Violation> {
    let schema = Schema::compile(schema).unwrap();
    let found = schema.validate_value(instance);
    found.err().map(Invalid::into_violations).unwrap_or_default()
}

fn paths(schema: &Value, instance: &Value) -> Vec<String> {
    found(schema, instance)
        .into_iter()
        .map(|found| found.path)
        .collect()
}

/// The steps that validation takes, and whether the value is valid.
fn steps(schema: &Schema, value: &Value) -> (usize, bool) {
    let mut walk = Walk::new(schema, VALUE_STEPS);
    let count = walk.check(&schema.document, value, Mode::Report);
    (VALUE_STEPS - walk.steps_left(), count.unwrap() == 0)
}

/// The schema of an enum whose variants are told apart by `op`.
fn filter() -> Value {
    let list = |op: &str| {
        json!({"type": "object", "properties": {"op": {"type": "string", "const": op},
            "of": {"type": "array", "items": {"$ref": "#/$defs/Filter"}}}, "required": ["op", "of"]})
    };
    json!({
        "type": "object", "properties": {"filter": {"$ref": "#/$defs/Filter"}}, "required": ["filter"],
        "$defs": {"Filter": {"oneOf": [list("and"), list("or"), {
            "type": "object", "properties": {"op": {"type": "string", "const": "is"}, "field": {"type": "string"},
                "value": {"type": "string"}}, "required": ["op", "field", "value"]}]}},
    })
}

/// The schema of an enum whose variants are tried one after the other.
fn tree() -> Value {
    let child = json!({"$ref": "#/$defs/Node"});
    json!({
        "type": "object", "properties": {"tree": child}, "required": ["tree"],
        "$defs": {"Node": {"anyOf": [
            {"type": "object", "properties": {"child": child, "weight": {"type": "integer"}}, "required": ["child", "weight"]},
            {"type": "object", "properties": {"child": child, "label": {"type": "string"}}, "required": ["child", "label"]},
            {"type": "object", "properties": {"leaf": {"type": "integer"}}, "required": ["leaf"]},
        ]}},
    })
}

#[test]
fn recursive_alternatives_take_linear_time() {
    let filter_at = |levels: usize, leaf: &Value| {
        let nest = |inner, _| json!({"op": "and", "of": [inner]});
        json!({"filter": (0..levels).fold(leaf.clone(), nest)})
    };
    let wrong = json!({"op": "is", "field": "a", "value": 1});
    let right = json!({"op": "is", "field": "a", "value": "1"});
    let tree_at = |levels: usize, leaf: &Value| {
        let nest = |inner, _| json!({"child": inner, "label": "a"});
        json!({"tree": (0..levels).fold(leaf.clone(), nest)})
    };
    let (filter, tree) = (filter(), tree());
    let (filters, trees) = (Schema::compile(&filter).unwrap(), Schema::compile(&tree).unwrap());
    for levels in 0..=62 {
        for (schema, instance, valid) in [
            (&filters, filter_at(levels, &right), true),
            (&filters, filter_at(levels, &wrong), false),
            (&trees, tree_at(2 * levels, &json!({"leaf": 1})), true),
            (&trees, tree_at(2 * levels, &json!({"leaf": "1"})), false),
        ] {
            let text = instance.to_string();
            assert_eq!(schema.validate(&text).is_ok(), valid, "{text}");
            let (steps, verdict) = steps(schema, &instance);
            assert_eq!(verdict, valid, "{text}");
            assert!(
                steps < 200 + 10 * text.len(),
                "{steps} for {} bytes: {text}",
                text.len()
            );
        }
    }
    let path = format!("/filter{}/value", "/of/0".repeat(60));
    assert_eq!(paths(&filter, &filter_at(60, &wrong)), [path]);
}

#[test]
fn a_violation_in_an_alternative_names_its_cause() {
    let only = |schema: &Value, instance: Value| {
        let mut found = found(schema, &instance);
        assert_eq!(found.len(), 1, "{found:?}");
        let Violation { path, message } = found.remove(0);
        format!("{path}: {message}")
    };
    assert_eq!(
        only(&filter(), json!({"filter": {"op": "txt"}})),
        r#"/filter/op: "txt" is not one of "and" or "or" or "is""#
    );
    assert_eq!(
        only(&filter(), json!({"filter": {"of": []}})),
        r#"/filter: "op" is a required property"#
    );
    assert_eq!(
        only(&tree(), json!({"tree": {"child": {"leaf": 1}, "weight": "1"}})),
        r#"/tree/weight: "1" is not of type "integer" (in the closest of 3 alternatives)"#
    );
    let optional = json!({"properties": {"a": {"anyOf": [{"properties": {"b": {"type": "string"}}, "type": "object"}, {"type": "null"}]}}});
    assert_eq!(
        only(&optional, json!({"a": {"b": 1}})),
        r#"/a/b: 1 is not of type "string""#
    );
    assert_eq!(
        only(&optional, json!({"a": 1})),
        r#"/a: 1 is not of type "object""#
    );
    let by_key = |name: &str| json!({"type": "object", "properties": {name: {"required": ["x", "y"]}}, "required": [name], "additionalProperties": false});
    let external = json!({"oneOf": [{"enum": ["C"], "type": "string"}, by_key("A"), by_key("B")]});
    assert_eq!(paths(&external, &json!({"B": {}})), ["/B", "/B"]);
    let both = json!({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert_eq!(
        only(&both, json!({"a": 1, "b": 1})),
        "/: the value matches 2 alternatives of `oneOf` instead of one"
    );
    let single = json!({"anyOf": [{"required": ["a"]}], "oneOf": [{"required": ["b"]}]});
    assert_eq!(paths(&single, &json!({})), ["/", "/"]);
}

#[test]
fn the_first_violations_by_path_are_reported_however_many_there_are() {
    let schema = json!({"properties": {
        "z": {"items": {"type": "integer"}}, "a": {"type": "string"}, "names": {"additionalProperties": false},
    }});
    let instance = json!({"z": vec!["x"; 100_000], "a": 1, "names": {"x".repeat(3 << 20): 1}});
    let found = found(&schema, &instance);
    let mut expected = vec!["/a".to_owned(), "/names".to_owned()];
    expected.extend((0..18).map(|index| format!("/z/{index}")));
    let paths: Vec<_> = found.iter().map(|found| found.path.clone()).collect();
    assert_eq!(paths, expected);
    assert!(found.iter().all(|found| found.message.chars().count() <= 500));
    let long = json!({"additionalProperties": {"type": "integer"}});
    assert!(
        self::found(&long, &json!({"x".repeat(3 << 20): "x"}))[0]
            .path
            .chars()
            .count()
            <= 500
    );
}

#[test]
fn what_takes_too_many_steps_is_rejected() {
    let patterns: serde_json::Map<_, _> = (0..50)
        .map(|n| (format!("^{n}$"), json!({"type": "string"})))
        .collect();
    let schema = Schema::compile(&json!({"patternProperties": patterns})).unwrap();
    let names: serde_json::Map<_, _> = (0..50).map(|n| (n.to_string(), json!("x"))).collect();
    let names = Value::from(names);
    assert!(Walk::new(&schema, 10_000).run(&names).is_ok());
    assert!(matches!(
        Walk::new(&schema, 1_000).run(&names),
        Err(Invalid::TooComplex)
    ));
    let endless = json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}});
    if let Ok(schema) = Schema::compile(&endless) {
        assert!(matches!(schema.validate(r#"{"a": 1}"#), Err(Invalid::TooComplex)));
    }
}

#[test]
fn a_text_that_is_not_an_object_or_not_json() {
    let schema = Schema::compile(&json!({"type": "object"})).unwrap();
    assert!(matches!(
        schema.validate("[]"),
        Err(Invalid::NotAnObject("an array"))
    ));
    for (text, path) in [
        ("{", "/"),
        (r#"{"a": [1, 1e400]}"#, "/a/1"),
        (r#"{"$serde_json::private::RawValue": "1"}"#, "/"),
    ] {
        let found = schema.validate(text).unwrap_err();
        assert!(
            matches!(&found, Invalid::NotJson { path: found, .. } if found == path),
            "{found:?}"
        );
    }
    // Private names of the JSON library do not lead into strings without a bound.
    let word = "$serde_json::private::RawValue";
    let mut nested = "1".to_owned();
    for _ in 0..8 {
        let inner = json!({ word: nested }).to_string();
        nested = format!("{}{inner}{}", "[".repeat(110), "]".repeat(110));
    }
    let text = format!(r#"{{"any": {nested}}}"#);
    assert!(matches!(schema.validate(&text), Err(Invalid::NotJson { .. })));
    let deep = format!(r#"{{"any": {}}}"#, "[".repeat(100_000));
    assert!(matches!(schema.validate(&deep), Err(Invalid::NotJson { .. })));
}

/// The types of recursive values that `#[derive(JsonSchema)]` writes: structs, options, lists, maps, tagged and untagged enums.
fn recursive() -> impl Strategy<Value = Value> {
    let field = || {
        prop_oneof![
            Just(json!({"type": "integer"})),
            Just(json!({"type": ["string", "null"]})),
            Just(json!({"$ref": "#/$defs/A"})),
            Just(json!({"$ref": "#/$defs/B"})),
            Just(json!({"type": "array", "items": {"$ref": "#/$defs/A"}})),
            Just(json!({"type": "array", "uniqueItems": true, "items": {"$ref": "#/$defs/B"}})),
            Just(json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/B"}})),
            Just(json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]})),
        ]
    };
    let names = ["a", "b", "c", "k"];
    let object = move || {
        (prop::collection::vec(field(), 4), 0_usize..5).prop_map(move |(fields, required)| {
            let properties: serde_json::Map<_, _> =
                names.map(str::to_owned).into_iter().zip(fields).collect();
            json!({"type": "object", "properties": properties, "required": names[..required]})
        })
    };
    let tagged = |objects: Vec<Value>| {
        let with_tag = |(index, mut object): (usize, Value)| {
            object["properties"]["k"] = json!({"type": "string", "const": format!("{index}")});
            object["required"] = json!(["k"]);
            object
        };
        json!({"oneOf": objects.into_iter().enumerate().map(with_tag).collect::<Vec<_>>()})
    };
    let several = move || prop::collection::vec(object(), 2..5);
    let definition = move || {
        prop_oneof![
            object(),
            several().prop_map(|objects| json!({"anyOf": objects})),
            several().prop_map(|objects| json!({"oneOf": objects})),
            several().prop_map(tagged),
        ]
    };
    (definition(), definition()).prop_map(|(a, b)| {
        json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/A"}}, "$defs": {"A": a, "B": b}})
    })
}

/// Deep values with the names of the types.
fn deep() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(1)),
        Just(json!("x")),
        Just(Value::Null),
        Just(json!({}))
    ];
    leaf.prop_recursive(40, 120, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"a": a, "b": b, "c": 1, "k": "0"})),
            inner.prop_map(|a| json!({"a": a, "k": "1"})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn verdicts_are_those_of_jsonschema(schema in root(), values in prop::collection::vec(value(), 1..12)) {
        // A schema that refers to itself without end is rejected or endless for the oracle.
        prop_assume!(!schema["$defs"]["R"].to_string().contains("$ref"));
        let oracle = dialect::compile(&schema).unwrap();
        let compiled = Schema::compile(&schema).unwrap();
        let text = schema.to_string();
        // Alternatives, and what is forbidden as a whole, are reported at other places.
        let same_places = !["anyOf", "oneOf", "allOf", "not", "false"].iter().any(|other| text.contains(other));
        for value in values {
            let whole = json!({"v": value});
            let valid = oracle.is_valid(&whole);
            let found = compiled.validate(&whole.to_string());
            prop_assert_eq!(found.is_ok(), valid, "{} {}", whole, text);
            if let (Err(Invalid::Violations(found)), true) = (found, same_places) {
                let oracle = violations::of_errors(oracle.iter_errors(&whole));
                // How often one place is named differs: jsonschema names an object once for all its forbidden names.
                let places = |violations: &[Violation]| violations.iter().map(|one| one.path.clone()).collect::<BTreeSet<_>>();
                prop_assert_eq!(places(&found), places(&oracle), "{} {}", whole, text);
            }
        }
    }

    #[test]
    fn the_steps_of_recursive_types_are_bounded_by_the_text(schema in recursive(), value in deep()) {
        let whole = json!({"v": value});
        let compiled = Schema::compile(&schema).unwrap();
        let (steps, valid) = steps(&compiled, &whole);
        let bytes = whole.to_string().len();
        prop_assert!(steps < 1000 + 60 * bytes, "{} steps for {} bytes: {} {}", steps, bytes, whole, schema);
        prop_assert_eq!(compiled.validate(&whole.to_string()).is_ok(), valid);
    }
}
