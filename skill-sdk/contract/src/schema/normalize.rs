//! Changes that look at one schema at a time, without following references.

use serde_json::{Value, json};

use super::docs::{ANY_VALUE, joined, reflowed};
use super::{enums, numbers, tuples};
use crate::walk::{Node, bottom_up, children_mut, is_null, is_unrestricted, text};

/// Brings a schema as schemars writes it into the portable form, as far as that needs no other schema.
pub(super) fn normalize(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    bottom_up(schema, &mut node);
    if let Value::Object(node) = schema
        && !node.contains_key("$ref")
    {
        describe_any(node);
    }
}

fn node(node: &mut Node) {
    // A contract's schema has one direction, so these two would only say which one it is.
    node.shift_remove("readOnly");
    node.shift_remove("writeOnly");
    if node.get("unevaluatedProperties") == Some(&Value::Bool(true)) {
        node.shift_remove("unevaluatedProperties");
    }
    if let Some(Value::String(text)) = node.get_mut("description") {
        *text = reflowed(text);
    }
    untyped_children(node);
    one_value(node);
    numbers::portable(node);
    tuples::portable(node);
    map_keys(node);
    enums::fold(node);
}

/// Describes `true` and `{}`, which mean "anything", in words: many readers reject or drop a bare `true`.
fn untyped_children(node: &mut Node) {
    children_mut(node, &mut |keyword, child| match keyword {
        "properties" | "patternProperties" | "items" | "prefixItems" | "anyOf" | "oneOf" => {
            // An empty schema as an alternative is how schemars says "or none of these": no value is meant.
            let none_of_these = matches!(keyword, "anyOf" | "oneOf") && *child == json!({});
            if *child == Value::Bool(true) {
                *child = json!({});
            }
            if let Value::Object(child) = child
                && !none_of_these
            {
                describe_any(child);
            }
        }
        _ => {}
    });
}

/// Says "any JSON value" in the description of a schema without restrictions.
fn describe_any(node: &mut Node) {
    if is_unrestricted(node) {
        let description = joined(text(node, "description"), ANY_VALUE);
        node.insert("description".to_owned(), description.into());
    }
}

/// `const` as an `enum` of one: the same to a validator, and known to readers that have no `const`.
fn one_value(node: &mut Node) {
    if let Some(value) = node.shift_remove("const")
        && !node.contains_key("enum")
    {
        node.insert("enum".to_owned(), Value::Array(vec![value]));
    }
}

/// A map whose keys follow a pattern, as `propertyNames` beside `additionalProperties`.
///
/// schemars writes `patternProperties` with `additionalProperties: false`. A reader that does not know the former rejects
/// every field; a reader that does not know `propertyNames` only checks less. `\d` is every digit of Unicode in some regex
/// dialects and zero to nine in others, and numbers in keys have no leading zeros.
fn map_keys(node: &mut Node) {
    let is_closed = node.get("additionalProperties") == Some(&Value::Bool(false));
    let patterns = node.get("patternProperties").and_then(Value::as_object);
    let Some((pattern, schema)) = patterns
        .filter(|patterns| patterns.len() == 1)
        .and_then(|one| one.iter().next())
    else {
        return;
    };
    if !is_closed || node.contains_key("properties") {
        return;
    }
    let pattern = match pattern.as_str() {
        r"^\d+$" => "^(0|[1-9][0-9]*)$",
        r"^-?\d+$" => "^(0|-?[1-9][0-9]*)$",
        pattern => pattern,
    };
    let (names, schema) = (json!({"pattern": pattern}), schema.clone());
    node.shift_remove("patternProperties");
    node.insert("propertyNames".to_owned(), names);
    node.insert("additionalProperties".to_owned(), schema);
}

/// A union that is the only content of an alternative becomes part of the outer union.
pub(super) fn flatten_unions(node: &mut Node) {
    if let Some(Value::Array(branches)) = node.get_mut("anyOf") {
        let mut flat: Vec<Value> = Vec::with_capacity(branches.len());
        for branch in branches.drain(..) {
            match branch {
                Value::Object(mut inner) if inner.len() == 1 && inner.contains_key("anyOf") => {
                    if let Some(Value::Array(inner)) = inner.shift_remove("anyOf") {
                        flat.extend(inner);
                    }
                }
                other => flat.push(other),
            }
        }
        // One "or null" is enough.
        let mut seen_null = false;
        flat.retain(|branch| !(is_null(branch) && std::mem::replace(&mut seen_null, true)));
        *branches = flat;
    }
}
