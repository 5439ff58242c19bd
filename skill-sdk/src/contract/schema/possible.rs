//! Whether any value can satisfy a schema.
//!
//! serde lets types be written that cannot be read or written: an enum without variants, a struct that holds
//! itself without end, `deny_unknown_fields` on one side of `flatten` that forbids the fields of the other side.
//! Such a contract would refuse every call, so it is an error when the program starts. The search knows the
//! keywords that types produce; a keyword that it does not know never makes a schema impossible.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Value, json};

use super::refs::{Defs, only_target, target};
use super::walk::{Node, children, escape, is_annotation};

/// How many combinations of alternatives are tried for one schema before it is taken as possible.
const BUDGET: u32 = 4096;

/// How deep combined schemas are looked into.
const DEPTH: u32 = 16;

/// Why no value fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    /// The schema says so itself.
    Nothing,
    /// Each value holds another one.
    Endless,
    /// A field is demanded and forbidden.
    Forbidden(String),
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
            Self::Forbidden(name) => write!(
                f,
                "the field `{name}` belongs to it and is refused by another part of it at the same time; \
                 `deny_unknown_fields` does not go together with `flatten`, so take one of them away"
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
pub(super) fn find(root: &Value, defs: &Defs) -> Option<Impossible> {
    let mut search = Search { defs, possible: BTreeSet::new(), budget: BUDGET };
    // A type is possible when it can be shown to be, starting from the types that hold no other.
    loop {
        let before = search.possible.len();
        for (name, schema) in defs {
            if !search.possible.contains(name) && search.check(&[schema]).is_ok() {
                search.possible.insert(name.clone());
            }
        }
        if search.possible.len() == before {
            break;
        }
    }
    search.place(root, String::new(), None, &mut BTreeSet::new())
}

struct Search<'a> {
    defs: &'a Defs,
    possible: BTreeSet<String>,
    budget: u32,
}

impl<'a> Search<'a> {
    fn place(
        &mut self,
        schema: &'a Value,
        pointer: String,
        owner: Option<&'a str>,
        seen: &mut BTreeSet<&'a str>,
    ) -> Option<Impossible> {
        if let Value::Object(node) = schema {
            if let Some((name, shared)) = target(node).and_then(|name| self.defs.get_key_value(name))
                && seen.insert(name)
                && let Some(found) = self.place(shared, pointer.clone(), Some(name), seen)
            {
                return Some(found);
            }
            let mut inner: Vec<(String, &'a Value)> = Vec::new();
            children(node, &mut |keyword, at, child| {
                let opinion = child.is_boolean()
                    && matches!(keyword, "additionalProperties" | "unevaluatedProperties" | "unevaluatedItems");
                if !opinion && !matches!(keyword, "not" | "if" | "then" | "else" | "contains") {
                    inner.push((at, child));
                }
            });
            for (at, child) in inner {
                if let Some(found) = self.place(child, format!("{pointer}{at}"), owner, seen) {
                    return Some(found);
                }
            }
        }
        let found = |pointer: String, reason: Reason| {
            Some(Impossible { pointer, owner: owner.map(ToOwned::to_owned), reason })
        };
        if let Err(reason) = self.check(&[schema]) {
            return found(pointer, reason);
        }
        let node = schema.as_object()?;
        if ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|key| node.contains_key(*key)) {
            if let Some((at, reason)) = self.useless_branch(node) {
                return found(format!("{pointer}{at}"), reason);
            }
            if let Some(name) = self.useless_field(schema, node) {
                return found(format!("{pointer}/properties/{}", escape(&name)), Reason::Forbidden(name));
            }
        }
        None
    }

    /// An alternative that can never be taken beside the rest of the schema.
    fn useless_branch(&mut self, node: &Node) -> Option<(String, Reason)> {
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = node.get(keyword) else { continue };
            let mut rest = node.clone();
            rest.shift_remove(keyword);
            let rest = Value::Object(rest);
            for (index, branch) in branches.iter().enumerate() {
                if let Err(reason) = self.check(&[&rest, branch]) {
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
        properties.keys().find(|name| self.check(&[schema, &given(name)]).is_err()).cloned()
    }

    /// Whether some value satisfies all of `schemas`.
    fn check(&mut self, schemas: &[&Value]) -> Result<(), Reason> {
        self.budget = BUDGET;
        self.all(schemas, DEPTH)
    }

    fn all(&mut self, schemas: &[&Value], depth: u32) -> Result<(), Reason> {
        let telling: Vec<&Value> = schemas.iter().copied().filter(|schema| restricts(schema)).collect();
        match telling.as_slice() {
            [] => Ok(()),
            [only] if only_target(only).is_some() => {
                let known = only_target(only).is_some_and(|name| self.possible.contains(name));
                if known { Ok(()) } else { Err(Reason::Endless) }
            }
            _ if depth == 0 => Ok(()),
            _ => {
                let mut parts = Parts::default();
                for schema in telling {
                    self.collect(schema, &mut parts, &mut BTreeSet::new())?;
                }
                self.choose(&parts, 0, depth)
            }
        }
    }

    /// Takes a schema apart into what always holds and the unions of which one alternative must hold.
    fn collect<'b>(
        &self,
        schema: &'b Value,
        parts: &mut Parts<'b>,
        seen: &mut BTreeSet<String>,
    ) -> Result<(), Reason>
    where
        'a: 'b,
    {
        let node = match schema {
            Value::Object(node) => node,
            Value::Bool(false) => return Err(Reason::Nothing),
            _ => return Ok(()),
        };
        parts.nodes.push(node);
        if let Some(name) = target(node) {
            if !self.possible.contains(name) {
                return Err(Reason::Endless);
            }
            if seen.insert(name.to_owned())
                && let Some(shared) = self.defs.get(name)
            {
                self.collect(shared, parts, seen)?;
            }
        }
        if let Some(Value::Array(all)) = node.get("allOf") {
            for part in all {
                self.collect(part, parts, seen)?;
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = node.get(keyword) {
                parts.unions.push(branches);
            }
        }
        Ok(())
    }

    /// Tries the alternatives of the unions one after the other, then looks at what holds together.
    fn choose(&mut self, parts: &Parts<'_>, next: usize, depth: u32) -> Result<(), Reason> {
        if self.budget == 0 {
            return Ok(());
        }
        self.budget -= 1;
        let Some(branches) = parts.unions.get(next) else {
            return self.together(&parts.nodes, depth);
        };
        let mut last = Err(Reason::Nothing);
        for branch in *branches {
            let mut chosen = parts.clone();
            last = self
                .collect(branch, &mut chosen, &mut BTreeSet::new())
                .and_then(|()| self.choose(&chosen, next + 1, depth));
            if last.is_ok() {
                break;
            }
        }
        last
    }

    /// Whether a value of some type satisfies all of `nodes`, apart from their unions.
    fn together(&mut self, nodes: &[&Node], depth: u32) -> Result<(), Reason> {
        let mut reason = Reason::Contradiction;
        if let Some(values) = common_values(nodes) {
            if nodes.iter().any(|node| node.get("enum").is_some_and(|list| *list == json!([]))) {
                return Err(Reason::Nothing);
            }
            let fits = |value: &&Value| nodes.iter().all(|node| allows_kind(node, kind_of(value)));
            return if values.iter().any(|value| fits(&value)) { Ok(()) } else { Err(reason) };
        }
        for kind in ["null", "boolean", "string", "number", "array", "object"] {
            if !nodes.iter().all(|node| allows_kind(node, kind)) {
                continue;
            }
            let found = match kind {
                "string" => in_order(nodes, &["minLength"], &["maxLength"]),
                "number" => in_order(nodes, &["minimum", "exclusiveMinimum"], &["maximum", "exclusiveMaximum"]),
                "array" => in_order(nodes, &["minItems"], &["maxItems"]).and_then(|()| self.items(nodes, depth)),
                "object" => self.fields(nodes, depth),
                _ => Ok(()),
            };
            match found {
                Ok(()) => return Ok(()),
                Err(found) => reason = found,
            }
        }
        Err(reason)
    }

    fn items(&mut self, nodes: &[&Node], depth: u32) -> Result<(), Reason> {
        let needed = nodes.iter().any(|node| node.get("minItems").and_then(Value::as_u64) > Some(0));
        let items: Vec<&Value> = nodes.iter().filter_map(|node| node.get("items")).collect();
        if needed { self.all(&items, depth - 1) } else { Ok(()) }
    }

    fn fields(&mut self, nodes: &[&Node], depth: u32) -> Result<(), Reason> {
        let required: BTreeSet<&str> = nodes
            .iter()
            .filter_map(|node| node.get("required")?.as_array())
            .flat_map(|names| names.iter().filter_map(Value::as_str))
            .collect();
        for name in required {
            let mut schemas: Vec<&Value> = Vec::new();
            let mut declared = false;
            for node in nodes {
                if let Some(schema) = node.get("properties").and_then(|fields| fields.get(name)) {
                    declared = true;
                    schemas.push(schema);
                } else if !node.contains_key("patternProperties") {
                    match node.get("additionalProperties") {
                        Some(Value::Bool(false)) => return Err(Reason::Forbidden(name.to_owned())),
                        Some(schema @ Value::Object(_)) => schemas.push(schema),
                        _ => {}
                    }
                }
            }
            let closed = nodes.iter().any(|node| node.get("unevaluatedProperties") == Some(&Value::Bool(false)));
            let taken = declared
                || nodes.iter().any(|node| {
                    node.contains_key("patternProperties")
                        || node.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false))
                });
            if closed && !taken {
                return Err(Reason::Forbidden(name.to_owned()));
            }
            self.all(&schemas, depth - 1)?;
        }
        Ok(())
    }
}

#[derive(Clone, Default)]
struct Parts<'a> {
    nodes: Vec<&'a Node>,
    unions: Vec<&'a Vec<Value>>,
}

fn restricts(schema: &Value) -> bool {
    match schema {
        Value::Object(node) => node.keys().any(|key| !is_annotation(key)),
        other => *other == Value::Bool(false),
    }
}

/// The values that all `enum`s of `nodes` have, `None` without any `enum`.
fn common_values<'a>(nodes: &[&'a Node]) -> Option<Vec<&'a Value>> {
    let mut lists = nodes.iter().filter_map(|node| node.get("enum")?.as_array());
    let mut common: Vec<&Value> = lists.next()?.iter().collect();
    for list in lists {
        common.retain(|value| list.contains(value));
    }
    Some(common)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn allows_kind(node: &Node, kind: &str) -> bool {
    let same = |name: &str| name == kind || (name == "integer" && kind == "number");
    match node.get("type") {
        Some(Value::String(name)) => same(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).any(same),
        _ => true,
    }
}

/// Whether the highest lower bound is not above the lowest upper bound.
fn in_order(nodes: &[&Node], lower: &[&str], upper: &[&str]) -> Result<(), Reason> {
    let bounds = |keys: &[&str]| -> Vec<f64> {
        let all = nodes.iter().flat_map(|node| keys.iter().filter_map(|key| node.get(*key)));
        all.filter_map(Value::as_f64).collect()
    };
    let low = bounds(lower).into_iter().fold(f64::NEG_INFINITY, f64::max);
    let high = bounds(upper).into_iter().fold(f64::INFINITY, f64::min);
    if low <= high { Ok(()) } else { Err(Reason::Contradiction) }
}
