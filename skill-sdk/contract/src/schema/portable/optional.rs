//! Optional properties with their plain type: clients drop tools over a type that also allows null.

use serde_json::Value;

use super::merge_lone_branch;
use crate::walk::{Node, children_mut};

/// Gives optional properties their plain type.
pub(super) fn without_nulls(node: &mut Node) {
    let required = node.get("required").and_then(Value::as_array).cloned();
    let is_required = |name: &str| required.iter().flatten().any(|required| required == name);
    if let Some(Value::Object(properties)) = node.get_mut("properties") {
        for (name, property) in properties {
            if let Value::Object(property) = property
                && !is_required(name)
            {
                without_null(property);
            }
        }
    }
    children_mut(node, &mut |keyword, child| {
        // Inside these a schema that accepts less makes the whole accept more.
        if !matches!(keyword, "not" | "if")
            && let Value::Object(child) = child
        {
            without_nulls(child);
        }
    });
}

/// Removes null from what a schema accepts, where it is one of several types.
fn without_null(node: &mut Node) {
    if let Some(Value::Array(types)) = node.get_mut("type")
        && types.len() > 1
        && types.iter().any(|name| name == "null")
    {
        types.retain(|name| name != "null");
        if let [name] = types.as_slice() {
            let name = name.clone();
            node.insert("type".to_owned(), name);
        }
        if let Some(Value::Array(values)) = node.get_mut("enum")
            && values.iter().any(|value| !value.is_null())
        {
            values.retain(|value| !value.is_null());
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(branches)) = node.get_mut(keyword)
            && branches.len() > 1
        {
            branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
        }
    }
    if node.get("default").is_some_and(Value::is_null) {
        node.shift_remove("default");
    }
    merge_lone_branch(node);
}
