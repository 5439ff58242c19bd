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
fn data_is_left_alone() {
    let schema = json!({"type": "object", "properties": {
        "$ref": {"const": {"$ref": "#/$defs/X"}},
        "e": {"enum": [{"$ref": "#"}], "default": {"$defs": {}}, "examples": [{"$ref": "#"}]},
        "required": {"type": "string"},
    }, "additionalProperties": false, "required": ["e"]});
    assert_eq!(components(&schema), json!({"Own": schema}));
}
