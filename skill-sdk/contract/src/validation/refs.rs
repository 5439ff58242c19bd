//! References of a schema: they stay in the document, and they lead somewhere.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::violation::{Violation, code};
use crate::text::{kind, quoted};
use crate::tree::{Role, Step, Tree};

const KEYWORDS: [&str; 2] = ["$ref", "$dynamicRef"];

/// Reports every member called `$ref` or `$dynamicRef` that is not a string starting with `#`.
///
/// Anywhere: in the values of `enum` and `default` too, and as the name of a property. The platform does not look at
/// what such a member means, so neither may we.
pub(super) fn check_local(tree: &Tree<'_>, base: &str, field: &'static str, found: &mut Vec<Violation>) {
    for (at, node) in tree.nodes.iter().enumerate() {
        let Step::Key(key) = node.step else { continue };
        if !KEYWORDS.contains(&key) || node.value.as_str().is_some_and(|target| target.starts_with('#')) {
            continue;
        }
        let is = node
            .value
            .as_str()
            .map_or_else(|| kind(node.value).to_owned(), quoted);
        let message = format!(
            "`{key}` is {is}: only references into the same document, `#…`, are allowed, and no other member may \
             be called `{key}`"
        );
        found.push(Violation::error(
            code::INVALID_JSON_SCHEMA,
            tree.pointer(base, at),
            field,
            message,
        ));
    }
}

/// Reports every local reference of a schema whose target does not exist, is no schema, or leads back to the
/// reference itself and to nothing else.
///
/// A platform may store such a schema; nobody can validate against it. So this rule is ours, with the general code.
pub(super) fn check_targets(tree: &Tree<'_>, base: &str, field: &'static str, found: &mut Vec<Violation>) {
    let resolver = Resolver::new(tree);
    let loops = resolver.loops();
    for (at, node) in tree
        .nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| node.role == Role::Schema)
    {
        let Some(members) = node.value.as_object() else {
            continue;
        };
        for keyword in KEYWORDS {
            let Some(target) = local_target(members, keyword) else {
                continue;
            };
            let problem = match resolver.resolve(node.resource, target) {
                None => "leads nowhere: point it at an existing member, for instance of `$defs`".to_owned(),
                Some(Value::Bool(_)) => continue,
                Some(Value::Object(_)) if keyword != "$ref" || !loops.contains(&address(node.value)) => {
                    continue;
                }
                Some(Value::Object(_)) => {
                    "only leads back to itself, so no value can be checked with it".to_owned()
                }
                Some(other) => format!("leads to {}, which is no schema", kind(other)),
            };
            let pointer = format!("{}/{keyword}", tree.pointer(base, at));
            found.push(Violation::invalid(
                pointer,
                field,
                format!("`{keyword}` {} {problem}", quoted(target)),
            ));
        }
    }
}

fn local_target<'a>(schema: &'a Map<String, Value>, keyword: &str) -> Option<&'a str> {
    schema
        .get(keyword)?
        .as_str()
        .filter(|target| target.starts_with('#'))
}

struct Resolver<'t, 'a> {
    tree: &'t Tree<'a>,
    /// Resource and anchor to schema.
    anchors: HashMap<(usize, &'a str), &'a Value>,
    /// The resource of a schema, by its address: what a pointer finds is a node of the tree.
    resources: HashMap<*const Value, usize>,
}

impl<'t, 'a> Resolver<'t, 'a> {
    fn new(tree: &'t Tree<'a>) -> Self {
        let mut anchors = HashMap::new();
        let mut resources = HashMap::new();
        for node in tree.nodes.iter().filter(|node| node.role == Role::Schema) {
            resources.insert(address(node.value), node.resource);
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let Some(anchor) = node.value.get(keyword).and_then(Value::as_str) {
                    anchors.insert((node.resource, anchor), node.value);
                }
            }
        }
        Self {
            tree,
            anchors,
            resources,
        }
    }

    /// What a reference, `#…`, of a schema in the resource leads to.
    fn resolve(&self, resource: usize, reference: &str) -> Option<&'a Value> {
        let fragment = percent_decoded(reference.strip_prefix('#')?)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            self.tree.nodes.get(resource)?.value.pointer(&fragment)
        } else {
            self.anchors.get(&(resource, fragment.as_str())).copied()
        }
    }

    /// The schemas from which following `$ref`, and from there again, comes back to the same schema.
    fn loops(&self) -> HashSet<*const Value> {
        let mut looping = HashSet::new();
        let mut done = HashSet::new();
        for node in self.tree.nodes.iter().filter(|node| node.role == Role::Schema) {
            let mut path: Vec<*const Value> = Vec::new();
            let mut here = Some(node.value);
            while let Some(schema) = here {
                let at = address(schema);
                if !done.insert(at) {
                    // Either an earlier walk has been here, or this one: then the path since is a loop.
                    if let Some(start) = path.iter().position(|visited| *visited == at) {
                        looping.extend(path.drain(start..));
                    }
                    break;
                }
                path.push(at);
                let resource = self.resources.get(&at).copied().unwrap_or(node.resource);
                let target = schema
                    .as_object()
                    .and_then(|members| local_target(members, "$ref"));
                here = target.and_then(|target| self.resolve(resource, target));
            }
        }
        looping
    }
}

/// What identifies a value of the document; equal values at other places have other addresses.
fn address(value: &Value) -> *const Value {
    std::ptr::from_ref(value)
}

/// The text behind percent-encoding; nothing when it is broken.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            decoded.push(byte);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        let code = digit()? * 16 + digit()?;
        decoded.push(u8::try_from(code).ok()?);
    }
    String::from_utf8(decoded).ok()
}
