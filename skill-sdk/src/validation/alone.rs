//! A part of a schema as a schema of its own.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Keywords that move what a reference means: with one of them anywhere no part means the same when it stands alone.
const MOVING: &[&str] = &[
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
];

/// The members in which a document keeps its definitions.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Whether something in a document moves what references mean.
pub(super) fn moves_references(document: &Value) -> bool {
    uses(document, MOVING)
        // It changes the language of the part that it stands in.
        || parts(document).any(|part| uses(part, &["$schema"]))
}

/// Whether one of the keywords is anywhere in a schema.
pub(super) fn uses(schema: &Value, keywords: &[&str]) -> bool {
    let here = schema.as_object();
    let here = here.is_some_and(|members| members.keys().any(|name| keywords.contains(&name.as_str())));
    here || parts(schema).any(|part| uses(part, keywords))
}

/// What a value is made of.
fn parts(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Object(members) => Box::new(members.values()),
        Value::Array(items) => Box::new(items.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

/// A part of a document that [moves no references](moves_references), with the definitions that it needs. `None` when it does
/// not mean the same without the rest of the document.
pub(super) fn alone(document: &Value, schema: &Value) -> Option<Value> {
    if std::ptr::eq(document, schema) {
        return Some(schema.clone());
    }
    let mut needed = BTreeSet::new();
    need(document, schema, &mut needed)?;
    let mut alone = schema.clone();
    if let (false, Some(members)) = (needed.is_empty(), alone.as_object_mut()) {
        for place in DEFINITIONS {
            let all = document.get(place).and_then(Value::as_object);
            let some: Map<_, _> = all
                .into_iter()
                .flatten()
                .filter(|(name, _)| needed.contains(&(place, name.as_str())))
                .map(|(name, definition)| (name.clone(), definition.clone()))
                .collect();
            // Also when it is empty: definitions of the part itself are never meant.
            members.insert(place.to_owned(), some.into());
        }
    }
    Some(alone)
}

/// Adds the definitions that are referred to; `None` when something else is.
fn need<'a>(
    document: &'a Value,
    schema: &'a Value,
    needed: &mut BTreeSet<(&'static str, &'a str)>,
) -> Option<()> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let (place, path) = DEFINITIONS.iter().find_map(|place| {
            let path = reference.strip_prefix("#/")?.strip_prefix(place)?;
            Some((*place, path.strip_prefix('/')?))
        })?;
        // Escapes are rare; whoever uses them gets less.
        if path.contains(['%', '~']) {
            return None;
        }
        let name = path.split('/').next()?;
        let (name, definition) = document.get(place)?.as_object()?.get_key_value(name)?;
        if needed.insert((place, name.as_str())) {
            need(document, definition, needed)?;
        }
    }
    parts(schema).try_for_each(|part| need(document, part, needed))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_part_takes_along_what_it_needs() {
        let document = json!({
            "properties": {
                "plain": {"type": "integer"},
                "a": {"items": {"$ref": "#/$defs/A"}, "$defs": {"A": false}},
                "old": {"$ref": "#/definitions/C"},
            },
            "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/B/items"}, {"$ref": "#/$defs/A"}]}, "B": {"items": {}}, "C": {}},
            "definitions": {"C": {"type": "null"}, "D": {}},
        });
        let part = |name: &str| alone(&document, &document["properties"][name]).unwrap();
        assert_eq!(part("plain"), json!({"type": "integer"}));
        let of_a = part("a");
        let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&of_a["$defs"]), ["A", "B"]);
        assert_eq!(of_a["$defs"]["A"], document["$defs"]["A"], "not the part's own");
        assert_eq!(part("old")["definitions"], json!({"C": {"type": "null"}}));
        assert_eq!(alone(&document, &document), Some(document.clone()));
    }

    #[test]
    fn what_refers_to_the_rest_does_not_stand_alone() {
        for reference in [
            "#",
            "#/properties/a",
            "#name",
            "other.json",
            "#/$defs",
            "#/$defs/Missing",
            "#/$defs/A%20B",
            "#/$defs/Far",
            "#/$defsA/x",
        ] {
            let document = json!({
                "properties": {"a": {"type": "array", "items": {"$ref": reference}}},
                "$defs": {"A B": {}, "Far": {"not": {"$ref": "#"}}},
            });
            assert_eq!(
                alone(&document, &document["properties"]["a"]),
                None,
                "{reference}"
            );
        }
    }

    #[test]
    fn keywords_that_move_references_are_found_anywhere() {
        for document in [
            json!({"$id": "https://example.com"}),
            json!({"items": [{"not": {"$anchor": "a"}}]}),
            json!({"items": {"$schema": "https://example.com"}}),
        ] {
            assert!(moves_references(&document), "{document}");
        }
        assert!(!moves_references(
            &json!({"$schema": "x", "items": {"$ref": "#"}})
        ));
    }
}
