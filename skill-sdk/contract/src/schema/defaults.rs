//! The same bytes for the values in a schema, whatever the order of a hash map and the features of `serde_json`.

use serde_json::{Number, Value};

use super::refs::{Defs, target};
use crate::walk::{Node, bottom_up};

/// How many schemas are followed for one value.
const MAX_DEPTH: usize = 64;

/// Puts `default` and `examples` into a form that does not change between builds and runs: fields of maps and
/// items of sets are sorted, `f32` is written with its own digits, and an integer that only some features of
/// `serde_json` can hold takes its value out of the schema.
pub(super) fn normalize(schema: &mut Value, defs: &Defs) {
    bottom_up(schema, &mut |node| {
        for key in ["default", "examples"] {
            let Some(mut value) = node.get(key).cloned() else {
                continue;
            };
            if !portable_numbers(&mut value) {
                node.shift_remove(key);
                continue;
            }
            match &mut value {
                Value::Array(examples) if key == "examples" => {
                    for example in examples {
                        sort_node(example, node, defs, 0);
                    }
                }
                value => sort_node(value, node, defs, 0),
            }
            node.insert(key.to_owned(), value);
        }
    });
}

/// Writes floats in their shortest form; whether all numbers are such that every build can hold them.
fn portable_numbers(value: &mut Value) -> bool {
    match value {
        Value::Number(number) => {
            if number.as_i64().is_some() || number.as_u64().is_some() {
                return true;
            }
            let Some(float) = number.as_f64().filter(|_| number.is_f64()) else {
                return false;
            };
            if let Some(short) = short(float) {
                *number = short;
            }
            true
        }
        Value::Array(items) => items.iter_mut().all(portable_numbers),
        Value::Object(members) => members.values_mut().all(portable_numbers),
        _ => true,
    }
}

/// 0.1 for an `f32` of 0.1, which as a double is 0.10000000149011612. Whole numbers have no such tail.
fn short(float: f64) -> Option<Number> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a value that an f32 cannot hold fails the comparison below"
    )]
    let single = float as f32;
    if float.fract() != 0.0 && f64::from(single).to_bits() == float.to_bits() {
        return Number::from_f64(format!("{single:e}").parse().ok()?);
    }
    Number::from_f64(float)
}

/// Sorts the sets and maps in a value of the schema `node`, `depth` schemas deep. A type may be directly itself again.
fn sort_node(value: &mut Value, node: &Node, defs: &Defs, depth: usize) {
    let sort = |value: &mut Value, schema: &Value| {
        if let Value::Object(node) = schema
            && (value.is_array() || value.is_object())
            && depth < MAX_DEPTH
        {
            sort_node(value, node, defs, depth + 1);
        }
    };
    if let Some(shared) = target(node).and_then(|name| defs.get(name)) {
        sort(value, shared);
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let parts = node.get(keyword).and_then(Value::as_array);
        parts.into_iter().flatten().for_each(|part| sort(value, part));
    }
    match value {
        Value::Array(items) => {
            if let Some(schema) = node.get("items") {
                for item in items.iter_mut() {
                    sort(item, schema);
                }
            }
            if node.get("uniqueItems") == Some(&Value::Bool(true)) {
                items.sort_by(|a, b| {
                    let number = |item: &Value| item.as_f64().unwrap_or_default();
                    let by_text = || a.to_string().cmp(&b.to_string());
                    number(a).total_cmp(&number(b)).then_with(by_text)
                });
            }
        }
        Value::Object(members) => {
            let properties = node.get("properties").and_then(Value::as_object);
            let other = node.get("additionalProperties");
            for (name, member) in members.iter_mut() {
                if let Some(schema) = properties.and_then(|known| known.get(name)).or(other) {
                    sort(member, schema);
                }
            }
            let is_map = properties.is_none_or(serde_json::Map::is_empty)
                && other.is_some_and(|other| *other != Value::Bool(false));
            if is_map {
                members.sort_keys();
            }
        }
        _ => {}
    }
}
