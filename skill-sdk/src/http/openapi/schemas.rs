//! Schemas of contracts as components: each definition becomes a component of its own, which is what generators follow.

use serde_json::{Map, Value, json};

/// Where definitions stand in a schema.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Keywords whose values are data, however much they look like schemas.
const DATA: [&str; 6] = ["const", "enum", "default", "example", "examples", "required"];

/// Keywords whose values are schemas by name.
const BY_NAME: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// Keywords that say what the document says already.
const OF_DOCUMENTS: [&str; 2] = ["$schema", "$id"];

/// The components.
#[derive(Debug, Default)]
pub(super) struct Schemas(Map<String, Value>);

impl Schemas {
    /// Adds a schema that refers to components only; gives a reference to it.
    pub(super) fn insert(&mut self, name: &str, schema: Value) -> Value {
        let name = self.free(name, &[]);
        let reference = json!({"$ref": path(&name)});
        self.0.insert(name, schema);
        reference
    }

    /// Adds a schema of a contract, with its definitions; gives a reference to it.
    pub(super) fn contract(&mut self, name: &str, schema: &Value) -> Value {
        let root = self.free(name, &[]);
        let mut names = Map::new();
        let mut taken = vec![root.clone()];
        for section in DEFINITIONS {
            let definitions = schema[section].as_object();
            for definition in definitions.into_iter().flat_map(Map::keys) {
                let own = self.free(&format!("{root}{}", word(definition)), &taken);
                taken.push(own.clone());
                names.insert(format!("/{section}/{}", escaped(definition)), own.into());
            }
        }
        let rewriting = Rewriting {
            root: &root,
            names: &names,
        };
        for section in DEFINITIONS {
            for (definition, schema) in schema[section].as_object().into_iter().flatten() {
                if let Some(own) = names
                    .get(&format!("/{section}/{}", escaped(definition)))
                    .and_then(Value::as_str)
                {
                    self.0.insert(own.to_owned(), rewriting.schema(schema, false));
                }
            }
        }
        let schema = rewriting.schema(schema, true);
        self.insert(&root, schema)
    }

    /// A name that is not taken, neither by a component nor by one that is to come. Generators make files of names, so they
    /// differ in more than case.
    fn free(&self, name: &str, to_come: &[String]) -> String {
        let taken = |name: &str| {
            let mut others = self.0.keys().chain(to_come);
            others.any(|other| other.eq_ignore_ascii_case(name))
        };
        let mut free = name.to_owned();
        let mut number = 2;
        while taken(&free) {
            free = format!("{name}N{number}");
            number += 1;
        }
        free
    }

    pub(super) fn into_value(self) -> Value {
        self.0.into()
    }
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

/// Moves one schema of a contract to where components stand.
struct Rewriting<'a> {
    root: &'a str,
    /// Pointers to definitions, and the components that they became.
    names: &'a Map<String, Value>,
}

impl Rewriting<'_> {
    fn schema(&self, schema: &Value, is_root: bool) -> Value {
        let object = match schema {
            Value::Bool(true) => return json!({}),
            Value::Bool(false) => return json!({"not": {}}),
            Value::Object(object) => object,
            other => return other.clone(),
        };
        let mut moved = Map::new();
        for (keyword, value) in object {
            let keyword_ = keyword.as_str();
            // Generators make names of titles, and two schemas may have the same.
            if keyword_ == "title" {
                continue;
            }
            if is_root && (OF_DOCUMENTS.contains(&keyword_) || DEFINITIONS.contains(&keyword_)) {
                continue;
            }
            let value = match value {
                value if DATA.contains(&keyword_) => value.clone(),
                Value::String(reference) if keyword_ == "$ref" => self.reference(reference).into(),
                Value::Object(schemas) if BY_NAME.contains(&keyword_) || DEFINITIONS.contains(&keyword_) => {
                    let schemas = schemas.iter();
                    schemas
                        .map(|(name, schema)| (name.clone(), self.schema(schema, false)))
                        .collect::<Map<_, _>>()
                        .into()
                }
                Value::Object(_) => self.schema(value, false),
                Value::Array(schemas) => schemas
                    .iter()
                    .map(|schema| match schema {
                        Value::Object(_) => self.schema(schema, false),
                        other => other.clone(),
                    })
                    .collect(),
                other => other.clone(),
            };
            moved.insert(keyword.clone(), value);
        }
        moved.into()
    }

    fn reference(&self, reference: &str) -> String {
        // Contracts refer to nothing but themselves.
        let Some(pointer) = reference.strip_prefix('#') else {
            return reference.to_owned();
        };
        for (definition, name) in self.names {
            if let (Some(rest), Some(name)) = (pointer.strip_prefix(definition.as_str()), name.as_str())
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return path(name) + rest;
            }
        }
        path(self.root) + pointer
    }
}
