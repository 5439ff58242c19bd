//! Schemas as they are served: what the clients and models in use read.
//!
//! Many clients do not follow references, so they are resolved in place; a type that holds itself stays in `$defs`. Many
//! models and clients stumble over a type that also allows null, so a property of the inputs that may be left out is served
//! with its plain type: null and absent are accepted alike, as the contract says. Nothing else changes. Outputs keep their
//! nulls, because clients check them.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

type Node = Map<String, Value>;

/// Which side of a skill a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Inputs,
    Outputs,
}

/// The most nodes that a schema may grow to when its references are resolved in place.
const MAX_NODES: usize = 5_000;

/// Keywords that make what a reference means depend on where it stands.
const ANCHORS: [&str; 5] = ["$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"];

/// Keywords that say nothing about which values are valid.
const ANNOTATIONS: [&str; 7] = [
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
];

const PREFIX: &str = "#/$defs/";

/// The portable form of a schema of the contract.
pub(super) fn portable(contract: &Value, side: Side) -> Value {
    let Value::Object(root) = contract else {
        return Node::new().into();
    };
    let mut root = inlined(root).unwrap_or_else(|| root.clone());
    if side == Side::Inputs {
        plain_optionals(&mut root);
    }
    // OpenAI and others refuse a tool whose inputs have no list of properties, be it empty.
    if side == Side::Inputs && !root.contains_key("$ref") {
        root.entry("type").or_insert_with(|| "object".into());
        root.entry("properties").or_insert_with(|| Node::new().into());
    }
    root.into()
}

/// The schema with its references resolved in place. `None`: it cannot be, or would grow too large.
fn inlined(root: &Node) -> Option<Node> {
    if uses_anchors(root) {
        return None;
    }
    let empty = Node::new();
    let defs = root.get("$defs").and_then(Value::as_object).unwrap_or(&empty);
    let mut work = Inliner {
        defs,
        recursive: recursive(defs),
        kept: BTreeSet::new(),
        nodes: 0,
    };
    let mut result = Node::new();
    for (keyword, value) in root {
        if keyword != "$defs" {
            result.insert(keyword.clone(), work.value(keyword, value)?);
        }
    }
    let mut result = merged(result);
    // A reference at the root: clients want to see an object there.
    if let Some(name) = result.get("$ref").and_then(target).map(str::to_owned)
        && let Some(Value::Object(definition)) = defs.get(&name)
    {
        result.shift_remove("$ref");
        for (keyword, value) in definition {
            if !result.contains_key(keyword) {
                result.insert(keyword.clone(), work.value(keyword, value)?);
            }
        }
    }
    let mut kept = Node::new();
    let mut done = BTreeSet::new();
    while let Some(name) = work.kept.difference(&done).next().cloned() {
        let definition = defs.get(&name)?;
        let definition = work.schema(definition)?;
        kept.insert(name.clone(), definition);
        done.insert(name);
    }
    if !kept.is_empty() {
        // In the order of the contract.
        let ordered: Node = defs
            .keys()
            .filter_map(|name| kept.get(name).map(|schema| (name.clone(), schema.clone())))
            .collect();
        result.insert("$defs".to_owned(), ordered.into());
    }
    Some(result)
}

/// Whether a keyword holds schemas, and how.
enum Holds {
    Schema,
    List,
    Members,
    Nothing,
}

fn holds(keyword: &str) -> Holds {
    match keyword {
        "additionalProperties"
        | "items"
        | "contains"
        | "not"
        | "if"
        | "then"
        | "else"
        | "propertyNames"
        | "unevaluatedItems"
        | "unevaluatedProperties" => Holds::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::List,
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" => Holds::Members,
        _ => Holds::Nothing,
    }
}

/// All schemas that stand directly inside of one.
fn children(node: &Node) -> impl Iterator<Item = &Value> {
    node.iter()
        .flat_map(|(keyword, value)| match (holds(keyword), value) {
            (Holds::Schema, schema) => vec![schema],
            (Holds::List, Value::Array(list)) => list.iter().collect(),
            (Holds::Members, Value::Object(members)) => members.values().collect(),
            _ => Vec::new(),
        })
}

fn uses_anchors(node: &Node) -> bool {
    ANCHORS.iter().any(|keyword| node.contains_key(*keyword))
        || node
            .get("$ref")
            .is_some_and(|reference| target(reference).is_none())
        || children(node).any(|child| child.as_object().is_some_and(uses_anchors))
}

fn target(reference: &Value) -> Option<&str> {
    // Names of the contract need no escaping; others are left as they are.
    let name = reference.as_str()?.strip_prefix(PREFIX)?;
    (!name.contains(['/', '~', '%'])).then_some(name)
}

fn references(schema: &Value, found: &mut BTreeSet<String>) {
    let Value::Object(node) = schema else { return };
    if let Some(name) = node.get("$ref").and_then(target) {
        found.insert(name.to_owned());
    }
    children(node).for_each(|child| references(child, found));
}

/// The named types that hold themselves.
fn recursive(defs: &Node) -> BTreeSet<String> {
    let direct = |name: &str| {
        let mut found = BTreeSet::new();
        if let Some(schema) = defs.get(name) {
            references(schema, &mut found);
        }
        found
    };
    defs.keys()
        .filter(|start| {
            let mut seen = BTreeSet::new();
            let mut next: Vec<String> = direct(start).into_iter().collect();
            while let Some(name) = next.pop() {
                if name == **start {
                    return true;
                }
                if seen.insert(name.clone()) {
                    next.extend(direct(&name));
                }
            }
            false
        })
        .cloned()
        .collect()
}

struct Inliner<'a> {
    defs: &'a Node,
    recursive: BTreeSet<String>,
    /// The named types that references still point to.
    kept: BTreeSet<String>,
    nodes: usize,
}

impl Inliner<'_> {
    fn schema(&mut self, schema: &Value) -> Option<Value> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return None;
        }
        let Value::Object(node) = schema else {
            return Some(schema.clone());
        };
        let mut result = Node::new();
        for (keyword, value) in node {
            match (keyword.as_str(), target(value)) {
                ("$ref", Some(name)) if self.recursive.contains(name) => {
                    self.kept.insert(name.to_owned());
                    result.insert(keyword.clone(), value.clone());
                }
                ("$ref", Some(name)) => {
                    let definition = self.defs.get(name)?;
                    let Value::Object(definition) = self.schema(definition)? else {
                        return None;
                    };
                    for (keyword, value) in definition {
                        // What stands beside a reference holds as well: it may not be replaced.
                        if node.contains_key(&keyword) && !is_annotation(&keyword) {
                            return None;
                        }
                        if !node.contains_key(&keyword) {
                            result.insert(keyword, value);
                        }
                    }
                }
                _ => {
                    let value = self.value(keyword, value)?;
                    result.insert(keyword.clone(), value);
                }
            }
        }
        Some(merged(result).into())
    }

    fn value(&mut self, keyword: &str, value: &Value) -> Option<Value> {
        match (holds(keyword), value) {
            (Holds::Schema, schema) => self.schema(schema),
            (Holds::List, Value::Array(list)) => list
                .iter()
                .map(|schema| self.schema(schema))
                .collect::<Option<Vec<_>>>()
                .map(Value::Array),
            (Holds::Members, Value::Object(members)) => members
                .iter()
                .map(|(name, schema)| Some((name.clone(), self.schema(schema)?)))
                .collect::<Option<Node>>()
                .map(Value::Object),
            _ => Some(value.clone()),
        }
    }
}

/// The only branch of an `anyOf`, `oneOf` or `allOf` becomes a part of the schema around it, unless both say something of
/// the same kind.
fn merged(mut node: Node) -> Node {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let Some(Value::Array(branches)) = node.get(keyword) else {
            continue;
        };
        let [Value::Object(branch)] = branches.as_slice() else {
            continue;
        };
        let collides = |(name, _): (&String, &Value)| node.contains_key(name) && !is_annotation(name);
        // `additionalProperties` looks at its neighbours, so it must not get other ones.
        let looks_around = |node: &Node| {
            node.keys().any(|name| {
                matches!(name.as_str(), "additionalProperties" | "items" | "then" | "else")
                    || name.starts_with("unevaluated")
            })
        };
        let own = node.keys().any(|name| name != keyword && !is_annotation(name));
        if branch.iter().any(collides) || (own && (looks_around(branch) || looks_around(&node))) {
            continue;
        }
        let branch = branch.clone();
        node.shift_remove(keyword);
        for (name, value) in branch {
            node.entry(name).or_insert(value);
        }
    }
    node
}

fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword)
}

/// Serves properties that may be left out with their plain type.
fn plain_optionals(node: &mut Node) {
    let required: BTreeSet<String> = node
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    for (keyword, value) in node.iter_mut() {
        match (holds(keyword), value) {
            // Under these a value that is refused less often would be a wrong answer.
            _ if matches!(keyword.as_str(), "not" | "if" | "oneOf") => {}
            (Holds::Schema, Value::Object(schema)) => plain_optionals(schema),
            (Holds::List, Value::Array(list)) => {
                list.iter_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(plain_optionals);
            }
            (Holds::Members, Value::Object(members)) => {
                for (name, member) in members {
                    let Value::Object(schema) = member else { continue };
                    plain_optionals(schema);
                    if keyword == "properties" && !required.contains(name) {
                        without_null(schema);
                    }
                }
            }
            _ => {}
        }
    }
}

/// Takes null out of what a schema accepts, where it is one of several.
fn without_null(node: &mut Node) {
    if let Some(Value::Array(kinds)) = node.get_mut("type")
        && kinds.len() > 1
        && kinds.iter().any(|kind| kind == "null")
    {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            node.insert("type".to_owned(), kind);
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
            branches.retain(|branch| branch.get("type").is_none_or(|kind| kind != "null"));
        }
    }
    if node.get("default").is_some_and(Value::is_null) {
        node.shift_remove("default");
    }
    *node = merged(std::mem::take(node));
}

#[cfg(test)]
mod tests;
