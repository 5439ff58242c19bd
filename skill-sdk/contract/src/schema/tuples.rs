//! Tuples.
//!
//! 2020-12 gives each position its schema with `prefixItems`, draft-07 with an array in `items`. Each rejects or ignores the
//! other form, and `items: false` beside `prefixItems` makes draft-07 reject everything. No keyword that both know describes
//! positions. For one verdict of all readers, a tuple is an array of fixed length whose items conform to the schema of any
//! position. The description has the order, and serde checks it. A tuple of equal types loses nothing.

use serde_json::{Value, json};

use super::docs::{ANY_VALUE, joined};
use crate::keywords::is_annotation;
use crate::walk::{Node, is_unrestricted, text};

/// Rewrites a closed tuple; leaves a list with a free tail after its first items as it is.
pub(super) fn portable(node: &mut Node) {
    let Some(Value::Array(positions)) = node.get("prefixItems") else {
        return;
    };
    let length = positions.len() as u64;
    let closed = node.get("maxItems").and_then(Value::as_u64) == Some(length)
        || node.get("items") == Some(&Value::Bool(false));
    if !closed {
        return;
    }
    let Some(Value::Array(positions)) = node.shift_remove("prefixItems") else {
        return;
    };
    let mut kinds: Vec<Value> = Vec::new();
    let mut documented = false;
    let mut lines: Vec<String> = Vec::new();
    for (index, position) in positions.into_iter().enumerate() {
        let (schema, docs) = split(position);
        let words = if docs.is_empty() {
            String::new()
        } else {
            format!(": {}", docs.replace('\n', "\n   "))
        };
        lines.push(format!("{}. {}{words}", index + 1, noun(&schema)));
        documented |= !docs.is_empty();
        if !kinds.contains(&schema) {
            kinds.push(schema);
        }
    }
    if kinds.len() > 1 || documented {
        let own = text(node, "description");
        let order = format!("Exactly {length} items, in this order:\n{}", lines.join("\n"));
        node.insert("description".to_owned(), joined(own, &order).into());
    }
    let any = json!({"description": ANY_VALUE});
    let items = match kinds.len() {
        1 => kinds.remove(0),
        _ if kinds.contains(&any) => any,
        _ => json!({"anyOf": kinds}),
    };
    node.insert("items".to_owned(), items);
    node.insert("minItems".to_owned(), length.into());
    node.insert("maxItems".to_owned(), length.into());
}

/// The schema of one position, and what its annotations say about it.
fn split(position: Value) -> (Value, String) {
    let Value::Object(mut node) = position else {
        return (position, String::new());
    };
    if is_unrestricted(&node) {
        let docs = text(&node, "description");
        let docs = docs.strip_suffix(ANY_VALUE).unwrap_or(docs).trim_end().to_owned();
        return (json!({"description": ANY_VALUE}), docs);
    }
    let docs = ["title", "description"].map(|key| match node.shift_remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    });
    node.retain(|key, _| !is_annotation(key));
    (Value::Object(node), joined(&docs[0], &docs[1]))
}

/// What a position holds, in words.
fn noun(schema: &Value) -> String {
    let Some(node) = schema.as_object() else {
        return "nothing".to_owned();
    };
    if let Some(name) = node.get("$ref").and_then(Value::as_str) {
        return name.rsplit('/').next().unwrap_or(name).to_owned();
    }
    let mut word = match node.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(several)) => several
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" or "),
        _ => match node.get("anyOf").or_else(|| node.get("oneOf")) {
            Some(Value::Array(branches)) => {
                let mut words: Vec<String> = branches.iter().map(noun).collect();
                words.dedup();
                words.join(" or ")
            }
            _ => "any JSON value".to_owned(),
        },
    };
    if let Some(Value::Array(values)) = node.get("enum") {
        let values: Vec<String> = values.iter().map(Value::to_string).collect();
        word = values.join(" or ");
    }
    if let Some(format) = node.get("format").and_then(Value::as_str) {
        word = format!("{word} ({format})");
    }
    word
}
