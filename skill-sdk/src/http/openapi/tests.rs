use serde_json::{Value, json};

use super::schemas::Schemas;

/// The components of one schema named `Own`.
fn components(schema: &Value) -> Value {
    let mut schemas = Schemas::default();
    let reference = schemas.contract("Own", schema);
    assert_eq!(reference, json!({"$ref": "#/components/schemas/Own"}));
    schemas.into_value()
}

#[test]
fn definitions_become_components() {
    let moved = components(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Own",
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/Tree"},
            "title": {"type": "string", "title": "Title"},
            "b": {"anyOf": [{"$ref": "#/$defs/a~1b"}, {"type": "null"}]},
            "c": true,
            "self": {"$ref": "#"},
            "part": {"$ref": "#/properties/a"},
        },
        "$defs": {
            "Tree": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            "a/b": {"type": "string"},
            "ab": {"type": "integer"},
        },
    }));
    assert_eq!(
        moved,
        json!({
            "OwnTree": {"type": "array", "items": {"$ref": "#/components/schemas/OwnTree"}},
            "OwnAb": {"type": "string"},
            "OwnAbN2": {"type": "integer"},
            "Own": {"type": "object", "properties": {
                "a": {"$ref": "#/components/schemas/OwnTree"},
                "title": {"type": "string"},
                "b": {"anyOf": [{"$ref": "#/components/schemas/OwnAb"}, {"type": "null"}]},
                "c": {},
                "self": {"$ref": "#/components/schemas/Own"},
                "part": {"$ref": "#/components/schemas/Own/properties/a"},
            }},
        })
    );
}

#[test]
fn every_definition_is_a_component_of_its_own_whatever_its_name() {
    let moved = components(&json!({
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/Заявка"},
            "b": {"$ref": "#/$defs/Клиент"},
            "c": {"$ref": "#/$defs/_"},
            "d": {"$ref": "#/$defs/Ab"},
            "e": {"$ref": "#/$defs/AB"},
        },
        "$defs": {
            "Заявка": {"type": "string"},
            "Клиент": {"type": "integer", "enum": [1]},
            "_": {"$ref": "#"},
            "Ab": {"type": "boolean"},
            "AB": {"type": "null"},
        },
    }));
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    assert_eq!(
        moved,
        json!({
            "OwnType": {"type": "string"},
            "OwnTypeN2": {"type": "integer", "enum": [1]},
            "OwnTypeN3": reference("Own"),
            "OwnAb": {"type": "boolean"},
            "OwnABN2": {"type": "null"},
            "Own": {"type": "object", "properties": {
                "a": reference("OwnType"),
                "b": reference("OwnTypeN2"),
                "c": reference("OwnTypeN3"),
                "d": reference("OwnAb"),
                "e": reference("OwnABN2"),
            }},
        })
    );
}

#[test]
fn a_later_contract_takes_no_component_of_an_earlier_one() {
    let mut schemas = Schemas::default();
    let with_definition = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/B"}},
        "$defs": {"B": {"type": "string"}},
    });
    schemas.contract("A", &with_definition);
    let later = schemas.contract("AB", &json!({"type": "object"}));
    assert_eq!(later, json!({"$ref": "#/components/schemas/ABN2"}));
    assert_eq!(
        schemas.insert("a", json!(true)),
        json!({"$ref": "#/components/schemas/aN2"})
    );
    let all = schemas.into_value();
    assert_eq!(all["AB"], json!({"type": "string"}));
    assert_eq!(all["ABN2"], json!({"type": "object"}));
}

#[test]
fn data_is_left_alone() {
    let schema = json!({"type": "object", "properties": {
        "$ref": {"const": {"$ref": "#/$defs/X"}},
        "e": {"enum": [{"$ref": "#"}], "default": {"$defs": {}}, "examples": [{"$ref": "#"}]},
        "required": {"type": "string"},
    }, "additionalProperties": false, "required": ["e"]});
    assert_eq!(components(&schema), json!({"Own": schema}));
}
