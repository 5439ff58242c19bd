//! Where the references of a schema lead, and which of them are recursive.

use serde_json::Value;

use super::node;
use super::tree::{Node, Tree};

/// Where a `$ref` leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// To this schema of the tree.
    Schema(usize),
    /// To a place of the document that is not a schema.
    Elsewhere,
    /// Nowhere: to another document, or to something that does not exist.
    Nowhere,
}

/// A `$ref`.
#[derive(Debug)]
pub(super) struct Reference<'a> {
    /// The index of the schema that contains it.
    pub(super) at: usize,
    /// That schema.
    pub(super) schema: &'a Value,
    text: &'a str,
    target: Target,
}

/// Says that a reference leads nowhere.
pub(super) fn dangling(reference: &Reference<'_>) -> Option<String> {
    (reference.target == Target::Nowhere).then(|| format!("`{}` leads nowhere", node::short(reference.text)))
}

impl Reference<'_> {
    /// The keywords beside it that are not `allowed` there.
    pub(super) fn beside(&self, allowed: impl Fn(&str) -> bool) -> Option<String> {
        let mut beside = node::keywords_beside(self.schema, "$ref");
        beside.retain(|keyword| !allowed(keyword));
        (!beside.is_empty()).then(|| format!("{} stands beside `$ref`", node::listed(&beside)))
    }
}

/// All references.
pub(super) fn references<'a>(tree: &Tree<'a>) -> impl Iterator<Item = Reference<'a>> {
    tree.nodes.iter().enumerate().filter_map(|(at, node)| {
        let text = node.value.get("$ref")?.as_str()?;
        Some(Reference {
            at,
            schema: node.value,
            text,
            target: resolve(tree, text),
        })
    })
}

fn resolve(tree: &Tree<'_>, reference: &str) -> Target {
    let Some(fragment) = reference.strip_prefix('#').and_then(percent_decoded) else {
        return Target::Nowhere;
    };
    if fragment.is_empty() || fragment.starts_with('/') {
        return match tree.root().pointer(&fragment) {
            None => Target::Nowhere,
            Some(value) => tree.index_of(value).map_or(Target::Elsewhere, Target::Schema),
        };
    }
    let is_anchor = |node: &Node<'_>| node.value.get("$anchor").and_then(Value::as_str) == Some(&fragment);
    tree.nodes
        .iter()
        .position(is_anchor)
        .map_or(Target::Nowhere, Target::Schema)
}

/// The text behind percent-encoding; nothing when it is broken.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        decoded.push(match byte {
            b'%' => u8::try_from(digit()? * 16 + digit()?).ok()?,
            _ => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

/// The schemas whose `$ref` leads back to them, in document order.
///
/// With `required_only`, a property that may be missing breaks a circle: a value can end there.
pub(super) fn recursive(tree: &Tree<'_>, required_only: bool) -> Vec<usize> {
    let mut next = vec![Vec::new(); tree.nodes.len()];
    let mut link = |from: usize, to: usize| next.get_mut(from).into_iter().for_each(|next| next.push(to));
    for (at, node) in tree.nodes.iter().enumerate() {
        // A definition is part of the schema that contains it only by a reference.
        let is_definition = matches!(node.keyword, "$defs" | "definitions");
        if node.is_root() || node.is_condition || is_definition {
            continue;
        }
        let around = tree
            .nodes
            .get(node.parent)
            .map_or(&Value::Null, |node| node.value);
        let optional = node.property().is_some_and(|name| !node::requires(around, name));
        if !(required_only && optional) {
            link(node.parent, at);
        }
    }
    let mut links: Vec<(usize, usize)> = Vec::new();
    for Reference { at, target, .. } in references(tree) {
        if let Target::Schema(to) = target {
            link(at, to);
            links.push((at, to));
        }
    }
    links.retain(|(from, to)| leads_to(&next, *to, *from));
    links.into_iter().map(|(from, _)| from).collect()
}

/// Whether `to` can be reached.
fn leads_to(next: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; next.len()];
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == to {
            return true;
        }
        let (Some(seen), Some(next)) = (seen.get_mut(at), next.get(at)) else {
            continue;
        };
        if !std::mem::replace(seen, true) {
            open.extend(next);
        }
    }
    false
}
