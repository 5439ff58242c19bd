//! Where the references of a schema lead, and which of them are recursive.

use serde_json::Value;

use super::node;
use super::tree::{Node, Tree};

/// Where a `$ref` leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    /// To this schema of the tree.
    Schema(usize),
    /// To a place of the document that is no schema of its own.
    Elsewhere,
    /// Nowhere: to another document, or to something that does not exist.
    Nowhere,
}

/// A `$ref`.
#[derive(Debug)]
pub(super) struct Reference<'a> {
    /// The index of the schema that it stands in.
    pub(super) at: usize,
    /// That schema.
    pub(super) schema: &'a Value,
    text: &'a str,
    target: Target,
}

impl Reference<'_> {
    /// Says that it leads nowhere.
    pub(super) fn dangling(&self) -> Option<String> {
        (self.target == Target::Nowhere).then(|| format!("`{}` leads nowhere", node::short(self.text)))
    }

    /// Says which keywords stand beside it that are not `allowed` there.
    pub(super) fn beside(&self, allowed: impl Fn(&str) -> bool) -> Option<String> {
        let mut beside = node::keywords_beside(self.schema, &["$ref"]);
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

/// The schemas whose `$ref` is part of a circle, in document order.
///
/// With `required_only`, a property that may be missing breaks a circle: a value can end there.
pub(super) fn recursive(tree: &Tree<'_>, required_only: bool) -> Vec<usize> {
    let count = tree.nodes.len();
    let mut next = vec![Vec::new(); count];
    let mut back = vec![Vec::new(); count];
    let mut link = |from: usize, to: usize| {
        if let (Some(next), Some(back)) = (next.get_mut(from), back.get_mut(to)) {
            next.push(to);
            back.push(from);
        }
    };
    for (at, node) in tree.nodes.iter().enumerate() {
        // A definition is not a part of what it stands in; only a reference makes it one.
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
    let mut references: Vec<(usize, usize)> = Vec::new();
    for Reference { at, target, .. } in self::references(tree) {
        if let Target::Schema(to) = target {
            link(at, to);
            references.push((at, to));
        }
    }
    // What nothing leads to, or what leads nowhere, is in no circle; what remains after taking all that away is.
    let mut alive = vec![true; count];
    prune(&mut alive, &next, &back);
    prune(&mut alive, &back, &next);
    let lives = |at: usize| alive.get(at).copied().unwrap_or_default();
    references.retain(|(from, to)| lives(*from) && lives(*to));
    references.into_iter().map(|(from, _)| from).collect()
}

/// Takes away every schema that has no living successor, and so on.
fn prune(alive: &mut [bool], next: &[Vec<usize>], back: &[Vec<usize>]) {
    let living = |alive: &[bool], of: &[usize]| of.iter().filter(|at| alive.get(**at) == Some(&true)).count();
    let mut left: Vec<usize> = next.iter().map(|of| living(alive, of)).collect();
    let mut ends: Vec<usize> = (0..left.len()).filter(|at| left.get(*at) == Some(&0)).collect();
    while let Some(end) = ends.pop() {
        match alive.get_mut(end) {
            Some(alive) if *alive => *alive = false,
            _ => continue,
        }
        for before in back.get(end).into_iter().flatten() {
            if let Some(left) = left.get_mut(*before) {
                *left = left.saturating_sub(1);
                if *left == 0 {
                    ends.push(*before);
                }
            }
        }
    }
}
