//! Where the subschemas of a schema are. Everything that visits a schema goes through this file, so that the
//! members of `properties`, `default` or `enum` are never mistaken for keywords.

use serde_json::{Map, Value};

/// A schema that is an object (the other kind is a boolean).
pub(super) type Node = Map<String, Value>;

/// How a keyword holds subschemas.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The value is a schema.
    One,
    /// The value is a list of schemas.
    List,
    /// The value is an object whose members are schemas.
    Named,
}

/// How `keyword` holds subschemas, `None` for a keyword without any.
pub(super) fn slot(keyword: &str) -> Option<Slot> {
    Some(match keyword {
        "items"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "contains"
        | "propertyNames"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contentSchema" => Slot::One,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Slot::List,
        "properties" | "patternProperties" | "dependentSchemas" => Slot::Named,
        _ => return None,
    })
}

/// Calls `visit(keyword, pointer, subschema)` for each subschema of `node`; the pointer is relative to `node`.
pub(super) fn children<'a>(node: &'a Node, visit: &mut dyn FnMut(&'a str, String, &'a Value)) {
    for (keyword, value) in node {
        match (slot(keyword), value) {
            (Some(Slot::One), _) => visit(keyword, format!("/{keyword}"), value),
            (Some(Slot::List), Value::Array(list)) => {
                for (index, item) in list.iter().enumerate() {
                    visit(keyword, format!("/{keyword}/{index}"), item);
                }
            }
            (Some(Slot::Named), Value::Object(named)) => {
                for (name, item) in named {
                    visit(keyword, format!("/{keyword}/{}", escape(name)), item);
                }
            }
            _ => {}
        }
    }
}

/// Calls `visit(keyword, subschema)` for each subschema of `node`.
pub(super) fn children_mut(node: &mut Node, visit: &mut dyn FnMut(&str, &mut Value)) {
    for (keyword, value) in node.iter_mut() {
        match (slot(keyword), value) {
            (Some(Slot::One), value) => visit(keyword, value),
            (Some(Slot::List), Value::Array(list)) => list.iter_mut().for_each(|item| visit(keyword, item)),
            (Some(Slot::Named), Value::Object(named)) => {
                named.values_mut().for_each(|item| visit(keyword, item));
            }
            _ => {}
        }
    }
}

/// Calls `change` for every object in `schema` that is a schema, the innermost first.
pub(super) fn bottom_up(schema: &mut Value, change: &mut dyn FnMut(&mut Node)) {
    if let Value::Object(node) = schema {
        children_mut(node, &mut |_, child| bottom_up(child, change));
        change(node);
    }
}

/// Calls `visit` for every object in `schema` that is a schema.
pub(super) fn each<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a Node)) {
    if let Value::Object(node) = schema {
        visit(node);
        children(node, &mut |_, _, child| each(child, visit));
    }
}

/// How many objects and lists are nested in each other in `value`; a scalar has height 0.
pub(super) fn height(value: &Value) -> usize {
    match value {
        Value::Object(map) => 1 + map.values().map(height).max().unwrap_or(0),
        Value::Array(list) => 1 + list.iter().map(height).max().unwrap_or(0),
        _ => 0,
    }
}

/// A member name as one token of a JSON pointer.
pub(super) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Whether `keyword` says something about a schema without restricting its values.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title" | "description" | "default" | "examples" | "deprecated" | "$comment"
    ) || keyword.starts_with("x-")
}

/// Whether the `type` of `node` is `name` or a list that holds it.
pub(super) fn has_type(node: &Node, name: &str) -> bool {
    match node.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

/// Whether `schema` is exactly "null", maybe with a description.
pub(super) fn is_null(schema: &Value) -> bool {
    schema.as_object().is_some_and(|node| {
        node.get("type").is_some_and(|kind| kind == "null")
            && node.keys().all(|key| key == "type" || is_annotation(key))
    })
}
