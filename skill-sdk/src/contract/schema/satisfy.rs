//! Whether some value satisfies several schemas at once.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::possible::Reason;
use super::refs::{Defs, only_target, target};
use super::walk::{Node, is_annotation};

/// How many combinations of alternatives are tried for one schema before it is taken as possible.
const BUDGET: u32 = 512;

/// How deep combined schemas are looked into.
const DEPTH: u32 = 16;

/// Knows which named types are possible, and finds out about other schemas.
pub(super) struct Oracle<'a> {
    pub(super) defs: &'a Defs,
    possible: BTreeSet<String>,
    budget: u32,
}

impl<'a> Oracle<'a> {
    /// Finds out about all of `defs`.
    pub(super) fn new(defs: &'a Defs) -> Self {
        let mut oracle = Self {
            defs,
            possible: BTreeSet::new(),
            budget: BUDGET,
        };
        // A type is possible when it can be shown to be, starting from the types that hold no other.
        loop {
            let before = oracle.possible.len();
            for (name, schema) in defs {
                if !oracle.possible.contains(name) && oracle.check(&[schema]).is_ok() {
                    oracle.possible.insert(name.clone());
                }
            }
            if oracle.possible.len() == before {
                return oracle;
            }
        }
    }

    /// Whether some value satisfies all of `schemas`.
    pub(super) fn check(&mut self, schemas: &[&Value]) -> Result<(), Reason> {
        self.budget = BUDGET;
        self.all(schemas, DEPTH)
    }

    fn all(&mut self, schemas: &[&Value], depth: u32) -> Result<(), Reason> {
        let telling: Vec<&Value> = schemas
            .iter()
            .copied()
            .filter(|schema| restricts(schema))
            .collect();
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
            if nodes
                .iter()
                .any(|node| node.get("enum").is_some_and(|list| *list == json!([])))
            {
                return Err(Reason::Nothing);
            }
            let fits = |value: &Value| nodes.iter().all(|node| allows_kind(node, kind_of(value)));
            return if values.into_iter().any(fits) {
                Ok(())
            } else {
                Err(reason)
            };
        }
        for kind in ["null", "boolean", "string", "number", "array", "object"] {
            if !nodes.iter().all(|node| allows_kind(node, kind)) {
                continue;
            }
            let found = match kind {
                "string" => in_order(nodes, &["minLength"], &["maxLength"]),
                "number" => in_order(
                    nodes,
                    &["minimum", "exclusiveMinimum"],
                    &["maximum", "exclusiveMaximum"],
                ),
                "array" => {
                    in_order(nodes, &["minItems"], &["maxItems"]).and_then(|()| self.items(nodes, depth))
                }
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
        let needed = nodes
            .iter()
            .any(|node| node.get("minItems").and_then(Value::as_u64) > Some(0));
        let items: Vec<&Value> = nodes.iter().filter_map(|node| node.get("items")).collect();
        if needed {
            self.all(&items, depth - 1)
        } else {
            Ok(())
        }
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
            let closed = nodes
                .iter()
                .any(|node| node.get("unevaluatedProperties") == Some(&Value::Bool(false)));
            let taken = declared
                || nodes.iter().any(|node| {
                    node.contains_key("patternProperties")
                        || node
                            .get("additionalProperties")
                            .is_some_and(|more| *more != Value::Bool(false))
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
        let all = nodes
            .iter()
            .flat_map(|node| keys.iter().filter_map(|key| node.get(*key)));
        all.filter_map(Value::as_f64).collect()
    };
    let low = bounds(lower).into_iter().fold(f64::NEG_INFINITY, f64::max);
    let high = bounds(upper).into_iter().fold(f64::INFINITY, f64::min);
    if low <= high {
        Ok(())
    } else {
        Err(Reason::Contradiction)
    }
}
