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
    let is_choice_of_disjoint = match node.get("oneOf") {
        Some(Value::Array(branches)) => are_disjoint(branches),
        _ => true,
    };
    children_mut(node, &mut |keyword, child| {
        // Inside these a schema that accepts less could accept more in the end.
        let is_inverted = matches!(keyword, "not" | "if") || (keyword == "oneOf" && !is_choice_of_disjoint);
        if !is_inverted && let Value::Object(child) = child {
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

/// Whether no value is valid under two of the branches, whatever happens to their optional properties.
fn are_disjoint(branches: &[Value]) -> bool {
    branches.iter().enumerate().all(|(index, branch)| {
        branches
            .iter()
            .skip(index + 1)
            .all(|other| excludes(branch, other) || excludes(other, branch))
    })
}

/// Whether a value of `schema` is never one of `other`: its type differs, or it has a required property that `other` does not
/// take, or takes with other fixed values only.
fn excludes(schema: &Value, other: &Value) -> bool {
    if let (Some(Value::String(kind)), Some(Value::String(other))) = (schema.get("type"), other.get("type"))
        && kind != other
    {
        return ![kind, other].iter().any(|kind| *kind == "integer");
    }
    let is_object = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "object");
    if !is_object(schema) || !is_object(other) {
        return false;
    }
    required(schema).any(|name| match property(other, name) {
        None => other
            .get("additionalProperties")
            .is_some_and(|more| *more == false),
        Some(theirs) if required(other).any(|other| other == name) => {
            let (mine, theirs) = (property(schema, name).map_or(&[][..], literals), literals(theirs));
            !mine.is_empty() && !theirs.is_empty() && !mine.iter().any(|value| theirs.contains(value))
        }
        Some(_) => false,
    })
}

fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

pub(super) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// The values that a schema is restricted to by `const` or `enum`; empty when it is not.
pub(super) fn literals(schema: &Value) -> &[Value] {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => std::slice::from_ref(value),
        (None, Some(Value::Array(values))) => values,
        _ => &[],
    }
}
