//! Schemas as they are served.

use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A type whose variants have a tag, as an `enum` that contains it is served.
pub(super) fn action() -> Value {
    json!({"oneOf": [
        {
            "description": "Adds one.", "type": "object", "required": ["action", "title"],
            "properties": {"action": {"type": "string", "enum": ["add"]}, "title": {"type": ["string", "null"]},
                           "note": {"type": ["string", "null"]}},
        },
        {
            "type": "object", "required": ["action", "id"],
            "properties": {"action": {"type": "string", "const": "remove"}, "id": {"type": "integer"},
                           "note": {"type": "integer"}},
        },
        {"type": "object", "required": ["action"], "properties": {"action": {"type": "string", "enum": ["list"]}}},
    ]})
}

fn served(contract: &Value, side: Side) -> Value {
    portable(contract, side)
}

#[test]
fn references_are_resolved_in_place() {
    let contract = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/Point"},
            "b": {"description": "B", "anyOf": [{"$ref": "#/$defs/Point"}]},
            "c": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        },
        "required": ["a", "b", "c"],
        "$defs": {
            "Line": {"type": "array", "items": {"$ref": "#/$defs/Point"}},
            "Point": {"description": "P", "type": "object", "properties": {"x": {"type": "number"}}},
            "Unused": {"type": "null"},
        },
    });
    let point = json!({"description": "P", "type": "object", "properties": {"x": {"type": "number"}}});
    let documented =
        json!({"description": "B\n\nP", "type": "object", "properties": {"x": {"type": "number"}}});
    assert_eq!(
        served(&contract, Side::Inputs),
        json!({
            "type": "object",
            "properties": {
                "a": point,
                "b": documented,
                "c": {"type": "array", "items": {"type": "array", "items": point}},
            },
            "required": ["a", "b", "c"],
        })
    );
}

#[test]
fn a_type_that_holds_itself_stays_a_reference() {
    let contract = json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree"}, "leaf": {"$ref": "#/$defs/Leaf"}},
        "$defs": {
            "Leaf": {"type": "string"},
            "Tree": {
                "type": "object",
                "properties": {
                    "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                    "leaf": {"$ref": "#/$defs/Leaf"},
                },
            },
        },
    });
    assert_eq!(
        served(&contract, Side::Outputs),
        json!({
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/Tree"}, "leaf": {"type": "string"}},
            "$defs": {
                "Tree": {
                    "type": "object",
                    "properties": {
                        "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                        "leaf": {"type": "string"},
                    },
                },
            },
        })
    );
}

#[test]
fn a_root_that_holds_itself_is_an_object() {
    let contract = json!({
        "$ref": "#/$defs/Tree",
        "$defs": {"Tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/Tree"}}}},
    });
    assert_eq!(
        served(&contract, Side::Inputs),
        json!({
            "type": "object",
            "properties": {"child": {"$ref": "#/$defs/Tree"}},
            "$defs": {"Tree": {"type": "object", "properties": {"child": {"$ref": "#/$defs/Tree"}}}},
        })
    );
}

#[test]
fn what_may_be_left_out_has_its_plain_type() {
    let table = [
        (json!({"type": ["string", "null"]}), json!({"type": "string"})),
        (
            json!({"type": ["string", "null"], "default": null, "description": "D"}),
            json!({"type": "string", "description": "D"}),
        ),
        (
            json!({"type": ["string", "integer", "null"]}),
            json!({"type": ["string", "integer"]}),
        ),
        (
            json!({"type": ["string", "null"], "enum": ["a", null]}),
            json!({"type": "string", "enum": ["a"]}),
        ),
        (
            json!({"description": "D", "anyOf": [{"type": "object", "properties": {}}, {"type": "null"}]}),
            json!({"description": "D", "type": "object", "properties": {}}),
        ),
        (json!({"type": "null"}), json!({"type": "null"})),
        (json!({"type": ["null"]}), json!({"type": ["null"]})),
        (json!({"type": "string"}), json!({"type": "string"})),
        (json!({}), json!({})),
    ];
    for (contract, expected) in table {
        let contract = |required: Value| {
            json!({
                "type": "object",
                "properties": {"a": contract, "in": {"type": "object", "properties": {"a": contract}}},
                "required": required,
            })
        };
        let optional = served(&contract(json!([])), Side::Inputs);
        assert_eq!(optional["properties"]["a"], expected);
        assert_eq!(optional["properties"]["in"]["properties"]["a"], expected);
        let required = contract(json!(["a"]));
        assert_eq!(
            served(&required, Side::Inputs)["properties"]["a"],
            required["properties"]["a"]
        );
        // Clients check outputs, and those hold nulls.
        let outputs = contract(json!([]));
        let mut plain = outputs["properties"]["a"].as_object().unwrap().clone();
        merge_lone_branch(&mut plain);
        let outputs_served = served(&outputs, Side::Outputs);
        assert_eq!(outputs_served["properties"]["a"].get("type"), plain.get("type"));
    }
}

#[test]
fn no_inputs_have_an_empty_list_of_properties() {
    assert_eq!(
        served(&json!({"type": "object"}), Side::Inputs),
        json!({"type": "object", "properties": {}})
    );
    assert_eq!(
        served(&json!({"type": "object"}), Side::Outputs),
        json!({"type": "object"})
    );
}

#[test]
fn arrays_say_what_their_items_are() {
    let tuple = json!({"type": "array", "prefixItems": [{"type": "string"}], "maxItems": 1});
    let contract = json!({"type": "object", "properties": {"a": tuple, "b": {"type": ["array", "null"]}}});
    let served_inputs = served(&contract, Side::Inputs);
    let mut expected = tuple.clone();
    expected["items"] = json!({});
    assert_eq!(
        served_inputs["properties"],
        json!({"a": expected, "b": {"type": "array", "items": {}}})
    );
    assert_eq!(served(&contract, Side::Outputs), contract);
}

#[test]
fn what_depends_on_its_place_is_left_as_it_is() {
    for schema in [
        json!({"type": "object", "properties": {"a": {"$anchor": "a", "$ref": "#/$defs/X"}}, "$defs": {"X": {}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#a"}}, "$defs": {"X": {"$anchor": "a"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/properties/b"}, "b": {}}}),
        json!({"type": "object", "$id": "https://a.example", "properties": {"a": {"$ref": "#/$defs/X"}}, "$defs": {"X": {}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/X", "minLength": 2}}, "$defs": {"X": {"minLength": 3}}}),
    ] {
        assert_eq!(served(&schema, Side::Outputs), schema);
    }
}

#[test]
fn a_schema_that_would_grow_too_large_keeps_its_references() {
    let mut defs = Node::new();
    defs.insert("T0".to_owned(), json!({"type": "string"}));
    for level in 1..40 {
        let below = json!({"$ref": format!("#/$defs/T{}", level - 1)});
        defs.insert(
            format!("T{level}"),
            json!({"type": "object", "properties": {"a": below, "b": below}}),
        );
    }
    let contract = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/T39"}}, "$defs": defs});
    assert_eq!(served(&contract, Side::Inputs), contract);
}

#[test]
fn properties_may_have_the_names_of_keywords() {
    let contract = json!({
        "type": "object",
        "properties": {
            "$ref": {"type": "string"}, "anyOf": {"$ref": "#/$defs/X"}, "$defs": {"type": "string"},
            "properties": {"type": ["string", "null"]},
        },
        "$defs": {"X": {"const": {"$ref": "#/$defs/X"}}},
    });
    assert_eq!(
        served(&contract, Side::Inputs),
        json!({
            "type": "object",
            "properties": {
                "$ref": {"type": "string"}, "anyOf": {"const": {"$ref": "#/$defs/X"}}, "$defs": {"type": "string"},
                "properties": {"type": "string"},
            },
        })
    );
}

#[test]
fn nulls_are_left_out_in_variants_that_a_tag_tells_apart() {
    let contract = |choice: Value| json!({"type": "object", "properties": {"a": choice}, "required": ["a"]});
    let tagged = served(&contract(action()), Side::Inputs)["properties"]["a"].clone();
    assert_eq!(
        tagged["oneOf"][0]["properties"]["note"],
        json!({"type": "string"})
    );
    assert_eq!(
        tagged["oneOf"][0]["properties"]["title"],
        json!({"type": ["string", "null"]})
    );
    let named = |name: &str| {
        let inner = json!({"type": "object", "properties": {"n": {"type": ["string", "null"]}}});
        json!({"type": "object", "properties": {name: inner}, "required": [name], "additionalProperties": false})
    };
    let closed = json!({"oneOf": [named("a"), named("b"), {"type": "null"}]});
    let closed = served(&contract(closed), Side::Inputs)["properties"]["a"].clone();
    assert_eq!(
        closed["oneOf"][0]["properties"]["a"]["properties"]["n"],
        json!({"type": "string"})
    );
}

#[test]
fn nothing_stands_beside_a_reference() {
    let contract = json!({
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/Tree"}},
        "$defs": {"Tree": {"type": "object", "properties": {
            "next": {"description": "The next.", "anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
        }}},
    });
    assert_eq!(
        served(&contract, Side::Inputs)["$defs"]["Tree"]["properties"]["next"],
        json!({"description": "The next.", "anyOf": [{"$ref": "#/$defs/Tree"}]})
    );
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap()
}

/// Schemas of a few properties over a few named types.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": ["integer", "null"]})),
        Just(json!({"enum": ["a", null], "type": ["string", "null"]})),
        Just(json!({"$ref": "#/$defs/A"})),
        Just(json!({"$ref": "#/$defs/B"})),
        Just(json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]})),
        Just(json!({"description": "d", "anyOf": [{"$ref": "#/$defs/B"}]})),
        Just(json!({"oneOf": [{"type": "string"}, {"$ref": "#/$defs/A"}]})),
    ];
    let object = |leaf: BoxedStrategy<Value>| {
        (leaf.clone(), leaf, any::<bool>(), any::<bool>()).prop_map(|(a, b, needed, closed)| {
            let mut object = json!({"type": "object", "properties": {"a": a, "b": b}});
            if needed {
                object["required"] = json!(["a"]);
            }
            if closed {
                object["additionalProperties"] = false.into();
            }
            object
        })
    };
    let leaf = leaf.boxed();
    (object(leaf.clone()), object(leaf.clone()), object(leaf)).prop_map(|(mut root, a, b)| {
        root["$defs"] = json!({"A": a, "B": {"type": "array", "items": b}});
        root
    })
}

fn instances() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        Just(json!("a")),
        Just(json!(1)),
        Just(json!([])),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 12, 2, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..2).prop_map(Value::Array),
            (proptest::option::of(inner.clone()), proptest::option::of(inner)).prop_map(|(a, b)| {
                let members = [("a", a), ("b", b)];
                let members = members
                    .into_iter()
                    .filter_map(|(name, value)| Some((name.to_owned(), value?)));
                Value::Object(members.collect())
            }),
        ]
    })
}

/// Takes away the fields that are null.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), without_nulls(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

proptest! {
    /// Outputs: the same values. Inputs: a call that the served schema accepts is accepted; and an accepted call conforms to
    /// the served schema, once the nulls that mean "absent" are left out.
    #[test]
    fn what_is_served_is_what_is_enforced(contract in schemas(), instance in instances()) {
        let enforced = validator(&contract).is_valid(&instance);
        let outputs = validator(&served(&contract, Side::Outputs));
        prop_assert_eq!(outputs.is_valid(&instance), enforced);
        let inputs = validator(&served(&contract, Side::Inputs));
        if inputs.is_valid(&instance) {
            prop_assert!(enforced, "{} lets in {}", served(&contract, Side::Inputs), instance);
        }
        if enforced && validator(&contract).is_valid(&without_nulls(&instance)) {
            prop_assert!(inputs.is_valid(&without_nulls(&instance)) || contract.to_string().contains("oneOf"));
        }
    }
}
