//! Whether any value can satisfy a schema.
//!
//! serde lets types be written that cannot be read or written: an enum without variants, a struct that holds
//! itself without end, `deny_unknown_fields` on one side of `flatten` that forbids the fields of the other side.
//! Such a contract would refuse every call, so it is an error when the program starts. The search knows the
//! keywords that types produce; a keyword that it does not know never makes a schema impossible.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Value, json};

use super::refs::{Defs, target};
use super::satisfy::Oracle;
use super::walk::{Node, children, escape};

/// Why no value fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// The schema says so itself.
    Nothing,
    /// Each value holds another one.
    Endless,
    /// Each value is one of the same type once more.
    Circular,
    /// A field is demanded and forbidden.
    Forbidden(String),
    /// serde collects the fields of a flattened enum and then refuses them as unknown.
    Refused,
    /// Two parts want different things.
    Contradiction,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str(
                "it has no value at all, like an enum without variants (or with all of them skipped); give it one \
                 or leave the field out",
            ),
            Self::Endless => f.write_str(
                "each value would hold another one of the same type without end; put an `Option` or a `Vec` in \
                 between",
            ),
            Self::Circular => f.write_str(
                "a value of it is directly a value of it again, so reading one never ends; put a field, a list or a \
                 tag in between",
            ),
            Self::Forbidden(name) => write!(
                f,
                "the field `{name}` belongs to it and is refused by another part of it at the same time; \
                 `deny_unknown_fields` does not go together with `flatten`, so take one of them away"
            ),
            Self::Refused => f.write_str(
                "`deny_unknown_fields` refuses the fields of the enum that is in it with `flatten`, and serde does \
                 not support the two together; take one of them away",
            ),
            Self::Contradiction => f.write_str(
                "its parts exclude each other (types, values or bounds that have nothing in common); change one of \
                 them",
            ),
        }
    }
}

/// A place that no value can satisfy.
pub(super) struct Impossible {
    /// Where, with shared types read as if they were written out.
    pub(super) pointer: String,
    /// The named type that it is in, if any.
    pub(super) owner: Option<String>,
    /// Why.
    pub(super) reason: Reason,
}

/// The first place, the innermost first, that no value can satisfy.
///
/// `read` is whether serde reads the values.
pub(super) fn find(root: &Value, defs: &Defs, read: bool) -> Option<Impossible> {
    let circular = defs
        .keys()
        .map(String::as_str)
        .filter(|name| is_circular(name, defs))
        .collect();
    let mut search = Search {
        oracle: Oracle::new(defs),
        circular,
        read,
        seen: BTreeSet::new(),
    };
    search.place(root, String::new(), None)
}

/// Whether a value of the type is at once a value of the type again: a validator, and serde too, would never get to
/// an end with it.
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
    while let Some(next) = open.pop() {
        let mut names: Vec<&str> = Vec::new();
        if let Some(schema) = defs.get(next) {
            names_in_place(schema, &mut names);
        }
        for next in names {
            if next == name {
                return true;
            }
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

struct Search<'a> {
    oracle: Oracle<'a>,
    circular: BTreeSet<&'a str>,
    read: bool,
    seen: BTreeSet<&'a str>,
}

impl<'a> Search<'a> {
    fn place(&mut self, schema: &'a Value, pointer: String, owner: Option<&'a str>) -> Option<Impossible> {
        if let Value::Object(node) = schema {
            if let Some((name, shared)) = target(node).and_then(|name| self.oracle.defs.get_key_value(name))
                && self.seen.insert(name)
            {
                if self.circular.contains(name.as_str()) {
                    return Some(Impossible {
                        pointer,
                        owner: Some(name.clone()),
                        reason: Reason::Circular,
                    });
                }
                if let Some(found) = self.place(shared, pointer.clone(), Some(name)) {
                    return Some(found);
                }
            }
            let mut inner: Vec<(String, &'a Value)> = Vec::new();
            children(node, &mut |keyword, at, child| {
                let opinion = child.is_boolean()
                    && matches!(
                        keyword,
                        "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems"
                    );
                if !opinion && !matches!(keyword, "not" | "if" | "then" | "else" | "contains") {
                    inner.push((at, child));
                }
            });
            for (at, child) in inner {
                if let Some(found) = self.place(child, format!("{pointer}{at}"), owner) {
                    return Some(found);
                }
            }
        }
        let found = |pointer: String, reason: Reason| {
            Some(Impossible {
                pointer,
                owner: owner.map(ToOwned::to_owned),
                reason,
            })
        };
        if let Err(reason) = self.oracle.check(&[schema]) {
            return found(pointer, reason);
        }
        let node = schema.as_object()?;
        if ["anyOf", "oneOf", "allOf", "$ref"]
            .iter()
            .any(|key| node.contains_key(*key))
        {
            if self.read && node.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
                return found(pointer, Reason::Refused);
            }
            if let Some((at, reason)) = self.useless_branch(node) {
                return found(format!("{pointer}{at}"), reason);
            }
            if let Some(name) = self.useless_field(schema, node) {
                return found(
                    format!("{pointer}/properties/{}", escape(&name)),
                    Reason::Forbidden(name),
                );
            }
        }
        None
    }

    /// An alternative that can never be taken beside the rest of the schema.
    fn useless_branch(&mut self, node: &Node) -> Option<(String, Reason)> {
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = node.get(keyword) else {
                continue;
            };
            let mut rest = node.clone();
            rest.shift_remove(keyword);
            let rest = Value::Object(rest);
            for (index, branch) in branches.iter().enumerate() {
                if let Err(reason) = self.oracle.check(&[&rest, branch]) {
                    return Some((format!("/{keyword}/{index}"), reason));
                }
            }
        }
        None
    }

    /// An optional field that can never be given.
    fn useless_field(&mut self, schema: &Value, node: &Node) -> Option<String> {
        let properties = node.get("properties")?.as_object()?;
        let given = |name: &String| json!({"required": [name]});
        properties
            .keys()
            .find(|name| self.oracle.check(&[schema, &given(name)]).is_err())
            .cloned()
    }
}
