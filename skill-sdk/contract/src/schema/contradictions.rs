//! What Rust types can declare and no value can satisfy: `deny_unknown_fields` on one side of `flatten`, which rejects
//! the fields of the other side, and a type that is directly itself again, which no reader gets to the end of.
//!
//! A contract with such a type would reject every call, so it is an error when the program starts.

use std::collections::BTreeSet;

use serde_json::Value;

use super::refs::{Defs, resolved, target};
use crate::walk::{Node, children};

/// A contradiction, and where it is.
pub(super) struct Contradiction {
    /// The place, with shared types read as if they were written out.
    pub(super) pointer: String,
    /// The named type that it is in, if any.
    pub(super) owner: Option<String>,
    /// What contradicts what, and what to do.
    pub(super) reason: String,
}

const CIRCULAR: &str = "a value of it is directly a value of it again, so reading one never ends; put a field, a list or \
                        a tag in between";
const FLATTENED_ENUM: &str = "`deny_unknown_fields` refuses the fields of the enum that is in it with `flatten`, and serde \
                              does not support the two together; take one of them away";

/// The first contradiction, the innermost first. `read` is whether serde reads the values.
pub(super) fn find(root: &Value, defs: &Defs, read: bool) -> Option<Contradiction> {
    let mut search = Search {
        defs,
        read,
        seen: BTreeSet::new(),
    };
    search.place(root, String::new(), None)
}

struct Search<'a> {
    defs: &'a Defs,
    read: bool,
    seen: BTreeSet<&'a str>,
}

impl<'a> Search<'a> {
    fn place(&mut self, schema: &'a Value, pointer: String, owner: Option<&'a str>) -> Option<Contradiction> {
        let node = schema.as_object()?;
        if let Some((name, shared)) = target(node).and_then(|name| self.defs.get_key_value(name))
            && self.seen.insert(name)
        {
            if is_circular(name, self.defs) {
                return Some(Contradiction {
                    pointer,
                    owner: Some(name.clone()),
                    reason: CIRCULAR.to_owned(),
                });
            }
            if let Some(found) = self.place(shared, pointer.clone(), Some(name)) {
                return Some(found);
            }
        }
        let mut inner: Vec<(String, &'a Value)> = Vec::new();
        children(node, &mut |_, at, child| inner.push((at, child)));
        for (at, child) in inner {
            if let Some(found) = self.place(child, format!("{pointer}{at}"), owner) {
                return Some(found);
            }
        }
        self.rejected_fields(node).map(|(at, reason)| Contradiction {
            pointer: pointer + &at,
            owner: owner.map(str::to_owned),
            reason,
        })
    }

    /// Whether `node` and what is flattened into it reject each other's fields: at which part, and why.
    fn rejected_fields(&self, node: &Node) -> Option<(String, String)> {
        let parts = self.flattened(node);
        if parts.is_empty() {
            return None;
        }
        if self.read && node.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
            return Some((String::new(), FLATTENED_ENUM.to_owned()));
        }
        parts.into_iter().find_map(|(at, part)| {
            if let Some(field) = field_outside(part, node) {
                return Some((String::new(), rejected(field)));
            }
            field_outside(node, part).map(|field| (at, rejected(field)))
        })
    }

    /// The schemas that hold beside the own fields of `node`, with their pointers.
    fn flattened<'b>(&'b self, node: &'b Node) -> Vec<(String, &'b Node)> {
        let shared = target(node).and_then(|name| self.defs.get(name));
        let mut parts: Vec<(String, &Value)> =
            shared.map(|shared| (String::new(), shared)).into_iter().collect();
        for keyword in ["allOf", "anyOf", "oneOf"] {
            if let Some(Value::Array(list)) = node.get(keyword) {
                let branches = list.iter().enumerate();
                parts.extend(branches.map(|(index, part)| (format!("/{keyword}/{index}"), part)));
            }
        }
        let objects = parts.into_iter();
        objects
            .filter_map(|(at, part)| Some((at, resolved(part, self.defs)?.as_object()?)))
            .collect()
    }
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

fn rejected(field: &str) -> String {
    format!(
        "the field `{field}` belongs to it and is refused by another part of it at the same time; \
         `deny_unknown_fields` does not go together with `flatten`, so take one of them away"
    )
}

/// Whether a value of the type is at once a value of the type again.
fn is_circular(name: &str, defs: &Defs) -> bool {
    fn names_in_place<'a>(schema: &'a Value, names: &mut Vec<&'a str>) {
        let Value::Object(node) = schema else { return };
        names.extend(target(node));
        children(node, &mut |keyword, _, child| {
            if matches!(
                keyword,
                "anyOf" | "oneOf" | "allOf" | "not" | "if" | "then" | "else"
            ) {
                names_in_place(child, names);
            }
        });
    }
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = vec![name];
    while let Some(schema) = open.pop().and_then(|next| defs.get(next)) {
        let mut names: Vec<&str> = Vec::new();
        names_in_place(schema, &mut names);
        if names.contains(&name) {
            return true;
        }
        open.extend(names.into_iter().filter(|next| seen.insert(next)));
    }
    false
}
