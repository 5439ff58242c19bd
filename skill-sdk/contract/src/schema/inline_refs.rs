//! Which types stay in `$defs` and which are written where they are used.
//!
//! A type that is used once is easier to read in its place, together with the description of the field. A type that is used
//! several times, or inside itself, stays in `$defs`.
//!
//! A `$ref` has no keyword beside it: draft-07 ignores such a keyword, and model providers reject it. The description of a
//! field of a shared type is written beside an `anyOf` with that one reference. `allOf` would mean the same, but some
//! providers reject or ignore it, while all of them know `anyOf`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::docs::joined;
use super::normalize::flatten_unions;
use super::refs::{Defs, resolved, target};
use crate::keywords::{Shape, is_annotation, shape_of};
use crate::walk::{Node, bottom_up, children_mut, each, height, is_null};

/// How deep a schema may get by writing types out where they are used. A contract may have 20 levels in all, and
/// a type in `$defs` starts again at the top.
const INLINE_DEPTH: usize = 12;

/// Merges an object type into a schema that refers to it and adds fields of its own, as the variants of an
/// internally tagged enum do. Its own fields stay references, so this ends after one level.
pub(super) fn merge_variants(schema: &mut Value, defs: &Defs) {
    bottom_up(schema, &mut |node| {
        let merged = is_structural(node)
            .then(|| target(node).and_then(|name| defs.get(name)))
            .flatten()
            .and_then(|shared| resolved(shared, defs))
            .and_then(Value::as_object)
            .and_then(|shared| merged_object(node, shared));
        if let Some(merged) = merged {
            *node = merged;
        }
    });
}

/// Whether `node` restricts values by something else than a reference.
fn is_structural(node: &Node) -> bool {
    node.keys().any(|key| key != "$ref" && !is_annotation(key))
}

/// `own` (without its reference) and `shared` as one object schema; `None` when that would not mean the same.
fn merged_object(own: &Node, shared: &Node) -> Option<Node> {
    let is_plain = |node: &Node| {
        node.iter().all(|(key, value)| match key.as_str() {
            "$ref" | "properties" | "required" => true,
            "type" => value == "object",
            "additionalProperties" => *value == Value::Bool(true),
            key => is_annotation(key),
        })
    };
    if !is_plain(own) || !is_plain(shared) {
        return None;
    }
    let mut merged = own.clone();
    merged.shift_remove("$ref");
    for (key, value) in shared {
        match (key.as_str(), merged.get_mut(key), value) {
            ("properties", Some(Value::Object(mine)), Value::Object(theirs)) => {
                if theirs.keys().any(|name| mine.contains_key(name)) {
                    return None;
                }
                mine.extend(theirs.clone());
            }
            ("required", Some(Value::Array(mine)), Value::Array(theirs)) => {
                mine.extend(theirs.iter().cloned());
            }
            ("description", Some(Value::String(mine)), Value::String(theirs)) => *mine = joined(mine, theirs),
            (_, Some(_), _) => {}
            (_, None, _) => {
                merged.insert(key.clone(), value.clone());
            }
        }
    }
    Some(merged)
}

/// Decides for every type in `defs`, and leaves no keyword beside a reference and no unused type.
pub(super) fn inline_refs(root: &mut Value, defs: &mut Defs) {
    let uses = uses(root, defs);
    let is_once = |name: &&String| uses.get(*name) == Some(&1) && !is_recursive(name, defs);
    let names: Vec<String> = defs.keys().filter(is_once).cloned().collect();
    let entries = names.iter().filter_map(|name| defs.shift_remove_entry(name));
    let mut once: Defs = entries.collect();
    defs.retain(|name, _| uses.contains_key(name));
    inline(root, 0, &mut once);
    for schema in defs.values_mut() {
        inline(schema, 2, &mut once);
    }
    // The others are used too deep inside another type to be written there.
    while let Some(name) = once.keys().next().cloned() {
        if let Some(mut schema) = once.shift_remove(&name) {
            inline(&mut schema, 2, &mut once);
            defs.insert(name, schema);
        }
    }
    for schema in std::iter::once(root).chain(defs.values_mut()) {
        bottom_up(schema, &mut |node| {
            lone_reference(node);
            flatten_unions(node);
            nullable(node);
        });
    }
}

/// How often each type is referred to from `root` and from the types that are reached from it.
pub(super) fn uses(root: &Value, defs: &Defs) -> BTreeMap<String, usize> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    let mut open: Vec<&Value> = vec![root];
    while let Some(schema) = open.pop() {
        each(schema, &mut |node| {
            if let Some(name) = target(node) {
                let count = uses.entry(name.to_owned()).or_insert(0);
                *count += 1;
                if *count == 1 {
                    open.extend(defs.get(name));
                }
            }
        });
    }
    uses
}

/// Whether the type can be reached from itself.
pub(super) fn is_recursive(name: &str, defs: &Defs) -> bool {
    defs.get(name)
        .is_some_and(|schema| uses(schema, defs).contains_key(name))
}

/// Writes the types of `once` out in `schema`, which stands `depth` levels deep, as far as that does not get too
/// deep, and takes them out of `once`.
fn inline(schema: &mut Value, depth: usize, once: &mut Defs) {
    loop {
        let Value::Object(node) = schema else { return };
        let fits = target(node).filter(|name| {
            once.get(*name)
                .is_some_and(|written_out| depth + height(written_out) <= INLINE_DEPTH)
        });
        let Some(Value::Object(written_out)) = fits
            .map(ToOwned::to_owned)
            .and_then(|name| once.shift_remove(&name))
        else {
            break;
        };
        *schema = Value::Object(written_in_place(node, written_out));
    }
    if let Value::Object(node) = schema {
        children_mut(node, &mut |keyword, child| {
            let step = if shape_of(keyword) == Shape::Schema { 1 } else { 2 };
            inline(child, depth + step, once);
        });
    }
}

/// `node`, which refers to a type, with the type instead. The description of the place comes before that of the type.
pub(super) fn written_in_place(node: &Node, written_out: Node) -> Node {
    let mut own = node.clone();
    own.shift_remove("$ref");
    if is_structural(&own) {
        push_all_of(&mut own, Value::Object(written_out));
    } else {
        merge(&mut own, written_out);
    }
    own
}

/// Adds the keywords of another schema; of annotations in both the node keeps its own, and descriptions are joined.
pub(super) fn merge(node: &mut Node, other: Node) {
    for (keyword, value) in other {
        match (node.get_mut(&keyword), &value) {
            (Some(Value::String(mine)), Value::String(theirs)) if keyword == "description" => {
                *mine = joined(mine, theirs);
            }
            (Some(_), _) => {}
            (None, _) => drop(node.insert(keyword, value)),
        }
    }
}

fn push_all_of(node: &mut Node, part: Value) {
    if let Value::Array(parts) = node.entry("allOf").or_insert_with(|| json!([])) {
        parts.push(part);
    }
}

/// Moves a reference away from the keywords beside it.
fn lone_reference(node: &mut Node) {
    if node.len() > 1
        && let Some(reference) = node.shift_remove("$ref")
    {
        let reference = json!({"$ref": reference});
        if is_structural(node) {
            push_all_of(node, reference);
        } else {
            node.insert("anyOf".to_owned(), json!([reference]));
        }
    }
}

/// `anyOf` of a plain schema and null as that schema with "null" among its types, which is the simplest form that
/// all drafts know.
fn nullable(node: &mut Node) {
    let Some(Value::Array(branches)) = node.get("anyOf") else {
        return;
    };
    let other = match branches.as_slice() {
        [other, null] | [null, other] if is_null(null) && !is_null(other) => other,
        _ => return,
    };
    let Some(other) = other.as_object() else { return };
    let Some(Value::String(kind)) = other.get("type") else {
        return;
    };
    let combined = |key: &String| {
        matches!(
            key.as_str(),
            "anyOf" | "oneOf" | "allOf" | "not" | "const" | "if" | "then" | "else" | "$ref"
        )
    };
    let own = node.keys().all(|key| key == "anyOf" || is_annotation(key));
    if !own || other.keys().any(combined) {
        return;
    }
    let mut merged = other.clone();
    merged.insert("type".to_owned(), json!([kind, "null"]));
    if let Some(Value::Array(values)) = merged.get_mut("enum") {
        values.push(Value::Null);
    }
    node.shift_remove("anyOf");
    *node = written_in_place(node, merged);
}
