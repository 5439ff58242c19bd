//! Schemas as they are served: in the form that the clients and models in use read.
//!
//! - Many clients do not follow references, so references are resolved in place; a type that contains itself stays in `$defs`.
//! - Many models and clients cannot handle a type that also allows null, so an optional property of the inputs is served with
//!   its plain type: null and absent are accepted alike, as the contract says (`optional`).
//! - Providers reject inputs with a choice at the root, so it becomes one object (`choice`).
//! - Providers reject integers that do not fit into 64 bits, so bounds that only say how wide an integer is are left out
//!   (`numbers`), and so is `$schema`, which some clients cannot resolve and which names the default dialect.
//!
//! Nothing else changes. Outputs keep their nulls and choices, because clients validate them.

mod choice;
mod names;
mod numbers;
mod optional;

use std::collections::BTreeSet;

use serde_json::{Value, json};

pub use self::names::{ToolNames, ToolSkill, tool_names};
use super::inline_refs::{is_recursive, merge, uses};
use super::refs::{Defs, target};
use crate::keywords::is_annotation;
use crate::walk::{Node, bottom_up, children_mut, each, has_type};

/// Which side of a skill a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What a skill receives.
    Inputs,
    /// What a skill returns.
    Outputs,
}

/// The most nodes that a schema may grow to when its references are resolved in place.
const MAX_NODES: usize = 5_000;

/// Keywords that make the meaning of a reference depend on its place.
const ANCHORS: [&str; 5] = ["$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef"];

/// The portable form of a schema of a contract.
pub fn portable(contract: &Value, side: Side) -> Value {
    let mut schema = inlined(contract).unwrap_or_else(|| contract.clone());
    bottom_up(&mut schema, &mut numbers::within_64_bits);
    if side == Side::Inputs {
        bottom_up(&mut schema, &mut with_items);
    }
    if let Value::Object(root) = &mut schema {
        root.shift_remove("$schema");
        if side == Side::Inputs {
            optional::without_nulls(root);
            choice::fold_root(root);
            // OpenAI and others reject a tool whose inputs have no `properties`.
            if !root.contains_key("$ref") {
                root.entry("type").or_insert_with(|| "object".into());
                root.entry("properties").or_insert_with(|| json!({}));
            }
        }
    }
    schema
}

/// Says that the items of an array may be anything, where nothing is said: some providers reject an array without `items`.
fn with_items(node: &mut Node) {
    if has_type(node, "array") && !node.contains_key("unevaluatedItems") {
        node.entry("items").or_insert_with(|| json!({}));
    }
}

/// The schema with its references resolved in place. `None` when that is not possible, or when it would grow too large.
fn inlined(contract: &Value) -> Option<Value> {
    let mut root = contract.as_object()?.clone();
    let defs = match root.shift_remove("$defs") {
        Some(Value::Object(defs)) => defs,
        _ => Defs::new(),
    };
    let mut is_movable = true;
    each(contract, &mut |node| {
        let known = |name: &str| defs.contains_key(name) && !name.contains(['~', '%']);
        is_movable &= !ANCHORS.iter().any(|keyword| node.contains_key(*keyword))
            && (!node.contains_key("$ref") || target(node).is_some_and(known));
    });
    if !is_movable {
        return None;
    }
    let recursive = defs.keys().filter(|name| is_recursive(name, &defs));
    let mut inliner = Inliner {
        recursive: recursive.map(String::as_str).collect(),
        defs: &defs,
        nodes: 0,
    };
    let mut root = inliner.inlined(root.into())?;
    // Clients need to see an object at the root, not a reference.
    if let Value::Object(node) = &mut root
        && let Some(Value::Object(definition)) = target(node).and_then(|name| defs.get(name))
    {
        node.shift_remove("$ref");
        if let Value::Object(definition) = inliner.inlined(definition.clone().into())? {
            merge(node, definition);
        }
    }
    let mut kept = Defs::new();
    for (name, schema) in &defs {
        if inliner.recursive.contains(name.as_str()) {
            kept.insert(name.clone(), inliner.inlined(schema.clone())?);
        }
    }
    let used = uses(&root, &kept);
    kept.retain(|name, _| used.contains_key(name));
    if !kept.is_empty() {
        root["$defs"] = kept.into();
    }
    Some(root)
}

struct Inliner<'a> {
    defs: &'a Defs,
    /// The types that contain themselves.
    recursive: BTreeSet<&'a str>,
    nodes: usize,
}

impl Inliner<'_> {
    fn inlined(&mut self, mut schema: Value) -> Option<Value> {
        self.inline(&mut schema).map(|()| schema)
    }

    fn inline(&mut self, schema: &mut Value) -> Option<()> {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            return None;
        }
        let Value::Object(node) = schema else {
            return Some(());
        };
        while let Some(name) = target(node).filter(|name| !self.recursive.contains(name)) {
            let definition = self.defs.get(name)?.as_object()?;
            node.shift_remove("$ref");
            // Both keywords apply, so one cannot replace the other.
            if definition
                .keys()
                .any(|keyword| node.contains_key(keyword) && !is_annotation(keyword))
            {
                return None;
            }
            merge(node, definition.clone());
        }
        let mut done = Some(());
        children_mut(node, &mut |_, child| {
            done = done.and_then(|()| self.inline(child));
        });
        merge_lone_branch(node);
        done
    }
}

/// Makes the only branch of an `anyOf`, `oneOf` or `allOf` part of the schema around it, unless that restricts values too. A
/// reference stays alone: providers reject one with something beside it.
fn merge_lone_branch(node: &mut Node) {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some([Value::Object(branch)]) = node.get(keyword).and_then(Value::as_array).map(Vec::as_slice)
            && node.keys().all(|name| name == keyword || is_annotation(name))
            && (node.len() == 1 || !branch.contains_key("$ref"))
        {
            let branch = branch.clone();
            node.shift_remove(keyword);
            merge(node, branch);
        }
    }
}

#[cfg(test)]
mod tests;
