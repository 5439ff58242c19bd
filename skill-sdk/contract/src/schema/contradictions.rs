//! What Rust types can declare and no value can satisfy: `deny_unknown_fields` on one side of `flatten`, which rejects
//! the fields of the other side.
//!
//! A contract with such a type would reject every call, so it is an error when the program starts.

use serde_json::Value;

use super::refs::{Defs, resolved, target};
use crate::walk::{Node, each};

const FLATTENED_ENUM: &str = "`deny_unknown_fields` rejects the fields of the enum that is in it with `flatten`, and serde \
                              does not support the two together; remove one of them";

/// The first contradiction in words, with the named type that it is in, if any. `read` is whether serde reads the values.
pub(super) fn find<'a>(root: &'a Value, defs: &'a Defs, read: bool) -> Option<(Option<&'a str>, String)> {
    let named = defs.iter().map(|(name, schema)| (Some(name.as_str()), schema));
    std::iter::once((None, root))
        .chain(named)
        .find_map(|(owner, schema)| {
            let mut reason = None;
            each(schema, &mut |node| {
                reason = reason.take().or_else(|| rejected_fields(node, defs, read));
            });
            Some((owner, reason?))
        })
}

/// Why `node` and what is flattened into it reject each other's fields, if they do.
fn rejected_fields(node: &Node, defs: &Defs, read: bool) -> Option<String> {
    // What holds beside the own fields of `node`.
    let shared = target(node).and_then(|name| defs.get(name));
    let lists = ["allOf", "anyOf", "oneOf"].map(|keyword| node.get(keyword).and_then(Value::as_array));
    let parts = shared.into_iter().chain(lists.into_iter().flatten().flatten());
    let parts: Vec<&Node> = parts
        .filter_map(|part| resolved(part, defs)?.as_object())
        .collect();
    if read && !parts.is_empty() && node.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
        return Some(FLATTENED_ENUM.to_owned());
    }
    let field = parts
        .into_iter()
        .find_map(|part| field_outside(part, node).or_else(|| field_outside(node, part)))?;
    Some(format!(
        "the field `{field}` is rejected by another part of the type; `deny_unknown_fields` cannot be combined with `flatten`, so \
         remove one of them"
    ))
}

/// A field of `fields` that `closed` rejects.
fn field_outside<'a>(fields: &'a Node, closed: &Node) -> Option<&'a str> {
    let properties = |node: &'a Node| node.get("properties")?.as_object();
    let is_closed = closed.get("additionalProperties") == Some(&Value::Bool(false))
        && !closed.contains_key("patternProperties");
    let known = closed.get("properties");
    properties(fields)?
        .keys()
        .find(|name| is_closed && known.and_then(|known| known.get(*name)).is_none())
        .map(String::as_str)
}
