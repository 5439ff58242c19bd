//! Where the subschemas of a schema are, for schemas of Rust types, which are small enough to recurse into.
//! (Schemas from outside are read through [`tree`](crate::tree).)

use serde_json::{Map, Value};

use crate::keywords::{Shape, is_annotation, shape_of};

/// A schema that is an object (the other kind is a boolean).
pub(crate) type Node = Map<String, Value>;

/// Calls `visit(keyword, subschema)` for each subschema of `node`.
pub(crate) fn children_mut(node: &mut Node, visit: &mut dyn FnMut(&str, &mut Value)) {
    for (keyword, value) in node.iter_mut() {
        match (shape_of(keyword), value) {
            (Shape::Schema, value) => visit(keyword, value),
            (Shape::Schemas, Value::Array(list)) => list.iter_mut().for_each(|item| visit(keyword, item)),
            (Shape::SchemaMap, Value::Object(named)) => {
                named.values_mut().for_each(|item| visit(keyword, item));
            }
            _ => {}
        }
    }
}

/// Calls `change` for every object in `schema` that is a schema, the innermost first.
pub fn bottom_up(schema: &mut Value, change: &mut dyn FnMut(&mut Node)) {
    if let Value::Object(node) = schema {
        children_mut(node, &mut |_, child| bottom_up(child, change));
        change(node);
    }
}

/// Calls `visit` for every object in `schema` that is a schema.
pub(crate) fn each<'a>(schema: &'a Value, visit: &mut dyn FnMut(&'a Node)) {
    let Value::Object(node) = schema else { return };
    visit(node);
    for (keyword, value) in node {
        match (shape_of(keyword), value) {
            (Shape::Schema, value) => each(value, visit),
            (Shape::Schemas, Value::Array(list)) => list.iter().for_each(|item| each(item, visit)),
            (Shape::SchemaMap, Value::Object(named)) => named.values().for_each(|item| each(item, visit)),
            _ => {}
        }
    }
}

/// How many objects and lists are nested in each other in `value`; a scalar has height 0.
pub(crate) fn height(value: &Value) -> usize {
    match value {
        Value::Object(map) => 1 + map.values().map(height).max().unwrap_or(0),
        Value::Array(list) => 1 + list.iter().map(height).max().unwrap_or(0),
        _ => 0,
    }
}

/// The text of an annotation such as `description`, or an empty text.
pub(crate) fn text<'a>(node: &'a Node, keyword: &str) -> &'a str {
    node.get(keyword).and_then(Value::as_str).unwrap_or_default()
}

/// Whether `node` only describes values and restricts none.
pub(crate) fn is_unrestricted(node: &Node) -> bool {
    node.keys().all(|key| is_annotation(key))
}

/// Whether the `type` of `node` is `name` or a list that holds it.
pub(crate) fn has_type(node: &Node, name: &str) -> bool {
    match node.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

/// Whether `schema` is exactly "null", maybe with a description.
pub(crate) fn is_null(schema: &Value) -> bool {
    schema.as_object().is_some_and(|node| {
        node.get("type").is_some_and(|kind| kind == "null")
            && node.keys().all(|key| key == "type" || is_annotation(key))
    })
}
