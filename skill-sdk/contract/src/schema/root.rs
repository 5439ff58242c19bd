//! The root of a contract's schema: always an object.

use serde_json::{Value, json};

use super::docs::ANY_VALUE;
use super::inline_refs::written_in_place;
use super::refs::{Defs, resolved, target};
use crate::keywords::is_annotation;
use crate::types::Types;
use crate::walk::Node;

/// Which types of values `schema` may accept. May name too many, never too few.
pub(super) fn types(schema: &Value, defs: &Defs) -> Types {
    types_within(schema, defs, defs.len() + 1)
}

fn types_within(schema: &Value, defs: &Defs, depth: usize) -> Types {
    let Value::Object(node) = schema else {
        return if *schema == Value::Bool(false) {
            Types::NONE
        } else {
            Types::ALL
        };
    };
    let union = |list: &Value, of: &dyn Fn(&Value) -> Types| {
        let list = list.as_array();
        list.map_or(Types::ALL, |list| {
            list.iter().map(of).fold(Types::NONE, Types::or)
        })
    };
    let inner = |schema: &Value| types_within(schema, defs, depth);
    let mut found = Types::allowed(node);
    for (keyword, value) in node {
        found = found.and(match (keyword.as_str(), value) {
            ("enum", list) => union(list, &Types::of),
            ("anyOf" | "oneOf", list) => union(list, &inner),
            ("allOf", Value::Array(list)) => list.iter().map(inner).fold(Types::ALL, Types::and),
            ("$ref", _) if depth > 0 => match target(node).and_then(|name| defs.get(name)) {
                Some(shared) => types_within(shared, defs, depth - 1),
                None => Types::ALL,
            },
            _ => Types::ALL,
        });
    }
    found
}

/// `schema`, which accepts objects, as a root with `type: object`: a named type is written out, and alternatives that are
/// not objects are dropped.
pub(super) fn object(schema: &Value, defs: &Defs) -> Value {
    let Some(Value::Object(node)) = resolved(schema, defs) else {
        return any_object(None);
    };
    let mut node = node.clone();
    for _ in 0..=defs.len() {
        // A newtype that only adds words to another type.
        match target(&node)
            .and_then(|name| defs.get(name))
            .and_then(|shared| resolved(shared, defs))
        {
            Some(Value::Object(shared)) if node.keys().all(|key| key == "$ref" || is_annotation(key)) => {
                node = written_in_place(&node, shared.clone());
            }
            _ => break,
        }
    }
    if node.keys().all(|key| key == "description") {
        return any_object(node.get("description").and_then(Value::as_str));
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = node.get_mut(keyword) else {
            continue;
        };
        branches.retain(|branch| types(branch, defs).meets(Types::OBJECT));
        let alone = branches.len() == 1;
        if let Some(branch) = branches.first().cloned().filter(|_| alone) {
            let others = node.keys().any(|key| key != keyword && key != "description");
            if !others {
                return lone_branch(&node, &branch, defs);
            }
        }
    }
    node.insert("type".to_owned(), "object".into());
    let typed = ["properties", "anyOf", "oneOf", "allOf", "$ref"]
        .iter()
        .any(|key| node.contains_key(*key));
    if !typed {
        // Many readers of tools insist on `properties` at the root.
        node.insert("properties".to_owned(), json!({}));
    }
    Value::Object(node)
}

/// A union of which only one alternative is an object.
fn lone_branch(node: &Node, branch: &Value, defs: &Defs) -> Value {
    match object(branch, defs) {
        Value::Object(root) => {
            let mut words = node.clone();
            words.retain(|key, _| key == "description");
            Value::Object(written_in_place(&words, root))
        }
        other => other,
    }
}

fn any_object(description: Option<&str>) -> Value {
    let words = description.map(|text| text.strip_suffix(ANY_VALUE).unwrap_or(text).trim_end());
    let words = words
        .filter(|text| !text.is_empty())
        .unwrap_or("Any JSON object.");
    json!({"description": words, "type": "object", "properties": {}, "additionalProperties": true})
}

/// The schema of outputs that are not an object: an object with the field `result`.
pub(super) fn wrapped(schema: Value) -> Value {
    let mut properties = Node::new();
    properties.insert("result".to_owned(), schema);
    json!({
        "type": "object",
        "properties": properties,
        "required": ["result"],
        "additionalProperties": false,
    })
}

/// The schema of outputs that say nothing.
pub(super) fn empty() -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": false})
}
