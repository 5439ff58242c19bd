//! Schemas of contracts as components: each definition becomes a component of its own, which is what generators follow.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::contract::each_schema_mut;

/// The keywords of a schema that contain definitions.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Keywords whose values are schemas by name.
const BY_NAME: [&str; 5] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    DEFINITIONS[0],
    DEFINITIONS[1],
];

/// The components.
#[derive(Debug, Default)]
pub(super) struct Schemas {
    components: Map<String, Value>,
    taken: BTreeSet<String>,
}

impl Schemas {
    /// Adds a schema that refers to components only; gives a reference to it.
    pub(super) fn insert(&mut self, name: &str, schema: Value) -> Value {
        let name = free(name, &mut self.taken);
        let reference = json!({"$ref": path(&name)});
        self.components.insert(name, schema);
        reference
    }

    /// Adds a schema of a contract, with its definitions; gives a reference to it.
    pub(super) fn contract(&mut self, name: &str, schema: &Value) -> Value {
        let root = free(name, &mut self.taken);
        // The pointers to definitions, and the components that they become.
        let mut names: Vec<(String, String)> = Vec::new();
        for section in DEFINITIONS {
            for definition in schema[section].as_object().into_iter().flat_map(Map::keys) {
                let own = free(&format!("{root}{}", word(definition)), &mut self.taken);
                names.push((format!("#/{section}/{}", escaped(definition)), own));
            }
        }
        let mut schema = schema.clone();
        each_schema_mut(&mut schema, &mut |node| {
            // Generators make names of titles, and two schemas may have the same.
            node.retain(|keyword, _| keyword != "title");
            if let Some(Value::String(reference)) = node.get_mut("$ref") {
                *reference = moved(reference, &root, &names);
            }
            for keyword in BY_NAME {
                let schemas = node.get_mut(keyword).and_then(Value::as_object_mut);
                for schema in schemas.into_iter().flat_map(Map::values_mut) {
                    match schema.as_bool() {
                        Some(true) => *schema = json!({}),
                        Some(false) => *schema = json!({"not": {}}),
                        None => {}
                    }
                }
            }
        });
        let mut names = names.into_iter().map(|(_, name)| name);
        for section in DEFINITIONS {
            if let Some(Value::Object(definitions)) = schema.get_mut(section).map(Value::take) {
                let definitions = names
                    .by_ref()
                    .zip(definitions.into_iter().map(|(_, schema)| schema));
                self.components.extend(definitions);
            }
        }
        if let Value::Object(node) = &mut schema {
            node.retain(|keyword, _| !["$schema", "$id", "$defs", "definitions"].contains(&keyword.as_str()));
        }
        let reference = json!({"$ref": path(&root)});
        self.components.insert(root, schema);
        reference
    }

    pub(super) fn into_value(self) -> Value {
        self.components.into()
    }
}

/// The name, with a number when it is taken already. Generators make files of names, so names differ in more than case.
pub(super) fn free(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut free = name.to_owned();
    let mut number = 2;
    while !taken.insert(free.to_ascii_lowercase()) {
        free = format!("{name}N{number}");
        number += 1;
    }
    free
}

fn path(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

/// The letters and digits of a name, as names of components allow them.
fn word(name: &str) -> String {
    let mut word: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    if word.is_empty() {
        return "Type".to_owned();
    }
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    word
}

/// A name as a part of a JSON pointer in a reference.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Where a reference leads once the schema `root` and its definitions are components. Contracts refer to nothing but themselves.
fn moved(reference: &str, root: &str, names: &[(String, String)]) -> String {
    for (definition, name) in names {
        if let Some(rest) = reference.strip_prefix(definition.as_str())
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return path(name) + rest;
        }
    }
    path(root) + reference.strip_prefix('#').unwrap_or_default()
}
