//! Schemas: dialect, keywords, patterns, references.

use serde_json::{Value, json};

use super::super::schema::{self, DIALECT};
use super::super::violation::Found;
use super::brief;

fn found(schema: &Value) -> Vec<String> {
    let mut found = Found::default();
    schema::check(schema, "inputs", &mut found);
    brief(&found.0)
}

#[test]
fn the_dialect_is_2020_12_or_not_said() {
    for dialect in [DIALECT.to_owned(), format!("{DIALECT}#")] {
        assert_eq!(found(&json!({"$schema": dialect})), Vec::<String>::new());
    }
    for dialect in [
        json!("http://json-schema.org/draft-07/schema#"),
        json!(format!("{DIALECT}##")),
        json!(format!("{DIALECT}/")),
        json!(""),
        // These two crash the reference or are not strings.
        json!(["x"]),
        json!(null),
    ] {
        assert_eq!(
            found(&json!({"$schema": dialect})),
            ["contract /inputs/$schema"],
            "{dialect}"
        );
    }
}

#[test]
fn a_schema_at_the_top_is_an_object_and_below_it_may_be_a_boolean() {
    for schema in [json!(true), json!(null), json!([]), json!("x"), json!(1)] {
        assert_eq!(found(&schema), ["contract /inputs"]);
    }
    assert_eq!(
        found(&json!({"properties": {"a": true}, "items": false})),
        Vec::<String>::new()
    );
    assert_eq!(
        found(&json!({"properties": {"a": null}})),
        ["schema /inputs/properties/a"]
    );
}

/// Each place of each defect; which values are defects at all is compared with a real validator elsewhere.
#[test]
fn every_defect_is_reported_with_its_place() {
    let schema = json!({
        "minLength": -1,
        "maxLength": 1.0,
        "minItems": 0.5,
        "multipleOf": 0,
        "required": ["a", "a", 1],
        "type": ["string", "text"],
        "enum": {},
        "allOf": [],
        "anyOf": [{"format": 1}, 2],
        "prefixItems": {},
        "items": [{}],
        "$defs": {"a~b/c": {"uniqueItems": 1, "not": {"title": null}}},
        "patternProperties": {"(": {"maximum": "1"}, "[a-z]+": {}},
        "dependentRequired": {"a": "b", "c": ["d", "d"]},
        "dependencies": {"a": ["b", 1], "c": {"pattern": "a)"}, "d": 1},
        "$vocabulary": {"x": 1},
        "$anchor": "1",
        "$id": "a#b",
        "default": {"minimum": "no schema here"},
        "x-own": {"minimum": "no schema here"},
    });
    assert_eq!(
        found(&schema),
        [
            "minLength",
            "minItems",
            "multipleOf",
            "required",
            "type",
            "enum",
            "allOf",
            "prefixItems",
            "patternProperties",
            "dependentRequired",
            "dependencies",
            "$vocabulary",
            "$anchor",
            "$id",
            "anyOf/0/format",
            "anyOf/1",
            "items",
            "$defs/a~0b~1c/uniqueItems",
            "$defs/a~0b~1c/not/title",
            "patternProperties/(/maximum",
            "dependencies/c/pattern",
            "dependencies/d",
        ]
        .map(|place| format!("schema /inputs/{place}"))
    );
}

#[test]
fn references_stay_in_the_document() {
    for (schema, places) in [
        (json!({"$ref": "other.json#/a"}), vec!["$ref"]),
        (json!({"$ref": ""}), vec!["$ref"]),
        (
            json!({"$ref": 5, "$dynamicRef": null}),
            vec!["$ref", "$dynamicRef"],
        ),
        (json!({"$dynamicRef": "x#a"}), vec!["$dynamicRef"]),
        (json!({"default": [{"$ref": "http://x"}]}), vec!["default/0/$ref"]),
        (json!({"enum": [{"$ref": "http://x"}]}), vec!["enum/0/$ref"]),
        (json!({"x-own": {"$ref": "http://x"}}), vec!["x-own/$ref"]),
        (
            json!({"properties": {"$ref": {"type": "string"}}}),
            vec!["properties/$ref"],
        ),
    ] {
        let places: Vec<_> = places
            .iter()
            .map(|place| format!("schema /inputs/{place}"))
            .collect();
        assert_eq!(found(&schema), places, "{schema}");
    }
}

#[test]
fn references_lead_to_a_schema() {
    let defs = json!({
        "a~b/c d": {},
        "T": true,
        "Tree": {"properties": {"children": {"items": {"$ref": "#/$defs/Tree"}}}},
        "Named": {"$anchor": "named"},
        "Dynamic": {"$dynamicAnchor": "node"},
        "List": {"anyOf": [{"type": "null"}]},
    });
    for target in [
        "#/$defs/a~0b~1c%20d",
        "#/%24defs/T",
        "#/$defs/Tree",
        "#named",
        "#node",
        "#/$defs/List/anyOf/0",
    ] {
        for keyword in ["$ref", "$dynamicRef"] {
            let schema =
                json!({"properties": {"x": {keyword: target}, "root": {"$ref": "#"}}, "$defs": defs});
            assert_eq!(found(&schema), Vec::<String>::new(), "{keyword} {target}");
        }
    }
    for target in [
        "#/$defs/Nope",
        "#/$defs/a~b/c d",
        "#nope",
        "#/$defs/List/anyOf/00",
        "#/$defs/List/anyOf/1",
        "#/$defs/List/anyOf",
        "#/$defs/Named/$anchor",
        "#/$defs/T%2",
        "#/$defs/T%zz",
        "#%ff",
    ] {
        let schema = json!({"properties": {"x": {"$ref": target}}, "$defs": defs});
        assert_eq!(found(&schema), ["contract /inputs/properties/x/$ref"], "{target}");
    }
    // Data may hold any local reference.
    assert_eq!(
        found(&json!({"default": {"$ref": "#/nope"}})),
        Vec::<String>::new()
    );
}
