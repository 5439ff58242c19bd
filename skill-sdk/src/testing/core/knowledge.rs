//! States, snapshots and plans.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value, json};

use super::filter::equal;
use crate::platform::core::artifacts::hash;
use crate::platform::core::knowledge::EntityRecord;

/// The most changes of a kind in a plan.
const LIMIT: usize = 1000;

/// Separates a kind and a key.
const SEPARATOR: char = '\u{1f}';

/// The kind or key of an entity without one.
const NONE: &str = "None";

/// The entities of one source and scope, by kind and key. The values do not contain the kind.
type Entities = Map<String, Value>;

/// All entities, by workspace, pack, source and scope.
#[derive(Default)]
pub(super) struct Knowledge(BTreeMap<[String; 4], Entities>);

impl Knowledge {
    /// The current entities for the source and scope of a snapshot, and those after applying it.
    pub(super) fn states(&self, workspace: &str, snapshot: &Value) -> (Entities, Entities) {
        let before = self.0.get(&slot(workspace, snapshot)).cloned();
        (before.unwrap_or_default(), entities(snapshot))
    }

    /// Replaces the entities for the source and scope of a snapshot. Returns the token of the new state.
    pub(super) fn apply(&mut self, workspace: &str, snapshot: &Value) -> String {
        let entities = entities(snapshot);
        let token = state_token(&entities);
        self.0.insert(slot(workspace, snapshot), entities);
        token
    }

    /// All entities of a workspace, ordered by kind and key.
    pub(super) fn entities(&self, workspace: &str) -> Vec<EntityRecord> {
        let mut found = Vec::new();
        for ([known, _, source, scope], entities) in &self.0 {
            for (id, entity) in entities.iter().filter(|_| known == workspace) {
                let (kind, key) = id.split_once(SEPARATOR).unwrap_or((id, ""));
                let rest = json!({"source": source, "scope": scope});
                found.push(EntityRecord {
                    kind: kind.to_owned(),
                    key: key.to_owned(),
                    title: entity["title"].as_str().unwrap_or_default().to_owned(),
                    attributes: entity["attributes"].as_object().cloned().unwrap_or_default(),
                    rest: rest.as_object().cloned().unwrap_or_default(),
                });
            }
        }
        found.sort_by(|left, right| (&left.kind, &left.key).cmp(&(&right.kind, &right.key)));
        found
    }
}

/// The key of the entities of a snapshot.
fn slot(workspace: &str, snapshot: &Value) -> [String; 4] {
    let [pack, source, scope] =
        ["pack", "source", "scope"].map(|name| snapshot[name].as_str().unwrap_or_default().to_owned());
    [workspace.to_owned(), pack, source, scope]
}

fn entities(snapshot: &Value) -> Entities {
    let listed = snapshot["entities"].as_array();
    let mut entities = Map::new();
    for entity in listed.map(Vec::as_slice).unwrap_or_default() {
        let text = |name: &str| entity[name].as_str().filter(|text| !text.is_empty());
        let kind = text("kind").unwrap_or(NONE);
        let key = text("key").or_else(|| text("naturalKey")).unwrap_or(NONE);
        let mut kept = entity.as_object().cloned().unwrap_or_default();
        kept.shift_remove("kind");
        entities.insert(format!("{kind}{SEPARATOR}{key}"), kept.into());
    }
    entities
}

/// The plan from one state to another. `token` is the token of the state after it.
pub(super) fn plan_of(before: &Entities, after: &Entities, token: &str) -> Value {
    let in_both = |id: &String| before.get(id).zip(after.get(id));
    let opened: Vec<_> = after.keys().filter(|id| !before.contains_key(*id)).collect();
    let closed: Vec<_> = before.keys().filter(|id| !after.contains_key(*id)).collect();
    let changed: Vec<_> = after
        .keys()
        .filter(|id| in_both(id).is_some_and(|(old, new)| !equal(old, new)))
        .collect();
    let unchanged = after.len() - opened.len() - changed.len();
    let truncated = [&opened, &changed, &closed].iter().any(|ids| ids.len() > LIMIT);
    json!({
        "opened": opened.len() + changed.len(),
        "closed": closed.len() + changed.len(),
        "superseded": changed.len(),
        "unchanged": unchanged,
        "changes": {
            "opened": listed(&opened),
            "changed": listed(&changed),
            "closed": listed(&closed),
            "limit": LIMIT,
            "truncated": truncated,
        },
        "conflicts": {"items": [], "limit": LIMIT, "truncated": false},
        "stateToken": token,
    })
}

fn listed(ids: &[&String]) -> Vec<Value> {
    ids.iter()
        .take(LIMIT)
        .map(|id| {
            let (kind, key) = id.split_once(SEPARATOR).unwrap_or((id, ""));
            json!({"kind": kind, "key": key})
        })
        .collect()
}

/// `st:` and the first 16 digits of the SHA-256 of the state as JSON, with ordered names and a space behind `,` and `:`.
pub(super) fn state_token(state: &Entities) -> String {
    let digest = hash(written(state.clone().into()).as_bytes());
    format!("st:{}", &digest[..16])
}

fn written(mut state: Value) -> String {
    state.sort_all_objects();
    let mut text = Vec::new();
    // Writing to memory does not fail.
    let _ = state.serialize(&mut Serializer::with_formatter(&mut text, Spaced));
    String::from_utf8(text).unwrap_or_default()
}

/// JSON with a space behind each comma and colon.
struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        let comma: &[u8] = if first { b"" } else { b", " };
        writer.write_all(comma)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.begin_array_value(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_letters_are_not_escaped() {
        let state = json!({"b": [1, 2.0, null], "a": {"z": "Ё\u{1f}\"", "y": true}});
        assert_eq!(
            written(state),
            "{\"a\": {\"y\": true, \"z\": \"Ё\\u001f\\\"\"}, \"b\": [1, 2.0, null]}"
        );
    }
}
