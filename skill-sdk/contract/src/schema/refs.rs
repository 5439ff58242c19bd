//! References between the schemas of named types.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::validation::percent_decoded;
use crate::walk::{Node, bottom_up};

/// The schemas of named types, by name.
pub(super) type Defs = Map<String, Value>;

const PREFIX: &str = "#/$defs/";

/// The reference to `name`, which [`rename`] has made safe for a pointer.
fn reference(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// The name that `node` refers to, when it refers to a named type.
pub(super) fn target(node: &Node) -> Option<&str> {
    node.get("$ref")?.as_str()?.strip_prefix(PREFIX)
}

/// The name that `schema` refers to, when it says nothing else.
fn only_target(schema: &Value) -> Option<&str> {
    schema.as_object().filter(|node| node.len() == 1).and_then(target)
}

/// Gives every named type a name of letters, digits, `_`, `-` and `.`, which needs no escaping in a reference and
/// is what other schema dialects allow. Returns the first reference to something that is not there.
pub(super) fn rename(root: &mut Value, defs: &mut Defs) -> Result<(), String> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for name in defs.keys() {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let base: String = name.chars().map(|c| if is_safe(c) { c } else { '_' }).collect();
        let base = if base.is_empty() { "Type".to_owned() } else { base };
        let mut new = base.clone();
        let mut number = 2;
        while !taken.insert(new.clone()) {
            new = format!("{base}{number}");
            number += 1;
        }
        names.insert(name.clone(), new);
    }
    let mut missing: Option<String> = None;
    let mut redirect = |node: &mut Node| {
        if let Some(Value::String(reference)) = node.get("$ref") {
            let new = reference
                .strip_prefix(PREFIX)
                .and_then(|name| names.get(&decoded(name)));
            match new {
                Some(new) => {
                    node.insert("$ref".to_owned(), self::reference(new).into());
                }
                None => missing = missing.take().or_else(|| Some(reference.clone())),
            }
        }
    };
    bottom_up(root, &mut redirect);
    let old = std::mem::take(defs);
    for (name, mut schema) in old {
        bottom_up(&mut schema, &mut redirect);
        defs.insert(names.get(&name).cloned().unwrap_or(name), schema);
    }
    missing.map_or(Ok(()), Err)
}

/// A token of a pointer in a URI fragment as the name it stands for.
fn decoded(token: &str) -> String {
    let name = percent_decoded(token).unwrap_or_else(|| token.to_owned());
    name.replace("~1", "/").replace("~0", "~")
}

/// Follows references that say nothing else to the schema they end at; `None` when they go in a circle.
pub(super) fn resolved<'a>(mut schema: &'a Value, defs: &'a Defs) -> Option<&'a Value> {
    for _ in 0..=defs.len() {
        match only_target(schema) {
            Some(name) => schema = defs.get(name)?,
            None => return Some(schema),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_become_safe_and_stay_apart() {
        let mut root = json!({"allOf": [{"$ref": "#/$defs/A%3CB%3E"}, {"$ref": "#/$defs/A_B_"}, {"$ref": "#/$defs/a~1%C3%A9"}]});
        let mut defs = Defs::new();
        for name in ["A<B>", "A_B_", "a/é", ""] {
            defs.insert(name.to_owned(), json!({"title": name}));
        }
        rename(&mut root, &mut defs).unwrap();
        assert_eq!(defs.keys().collect::<Vec<_>>(), ["A_B_", "A_B_2", "a__", "Type"]);
        assert_eq!(
            root,
            json!({"allOf": [{"$ref": "#/$defs/A_B_"}, {"$ref": "#/$defs/A_B_2"}, {"$ref": "#/$defs/a__"}]})
        );
    }

    #[test]
    fn a_reference_to_nothing_is_found() {
        for reference in [
            "#",
            "#/$defs/B",
            "#/$defs/A/properties/x",
            "#/definitions/A",
            "https://example.com/x",
        ] {
            let mut defs = Defs::new();
            defs.insert("A".to_owned(), json!({"items": {"$ref": reference}}));
            assert_eq!(rename(&mut json!({}), &mut defs), Err(reference.to_owned()));
        }
    }
}
