//! What a schema in the strict profile must keep as a whole: the provider rejects the request otherwise.
//!
//! Expects a schema that [`strict`](super::strict) wrote: closed objects, known keywords, a `$ref` that stands alone.

use serde_json::Value;

/// The most objects that are nested in each other.
const LEVELS: usize = 10;
/// The most properties in all.
const PROPERTIES: usize = 5000;
/// The most fixed values in all.
const VALUES: usize = 1000;
/// The number of values from which on the length of an `enum` is limited, and that length.
const LONG_ENUM: (usize, usize) = (250, 15_000);
/// The most characters of names and fixed values in all.
const CHARS: usize = 120_000;

/// Whether the provider accepts the schema.
pub(super) fn are_kept(root: &Value) -> bool {
    let is_object = root.get("type").is_some_and(|name| name == "object");
    let is_plain = ["anyOf", "enum", "const"]
        .iter()
        .all(|keyword| root.get(keyword).is_none());
    let mut sizes = Sizes::default();
    is_object
        && is_plain
        && sizes.add(root, root, 0)
        && sizes.properties <= PROPERTIES
        && sizes.values <= VALUES
        && sizes.chars <= CHARS
}

#[derive(Debug, Default)]
struct Sizes {
    properties: usize,
    values: usize,
    chars: usize,
}

impl Sizes {
    /// Counts a schema below `level` objects, and what is in it; whether each schema keeps its own rules.
    fn add(&mut self, root: &Value, schema: &Value, level: usize) -> bool {
        if let Some(reference) = schema.get("$ref") {
            return leads_somewhere(root, reference);
        }
        if schema.get("type").is_none() && schema.get("anyOf").is_none() {
            return false;
        }
        let level = level + usize::from(is_object(schema));
        if level > LEVELS || begin_alike(schema) {
            return false;
        }
        let values = literals(schema);
        let chars: usize = values.iter().filter_map(|value| value.as_str()).map(length).sum();
        if values.len() > LONG_ENUM.0 && chars > LONG_ENUM.1 {
            return false;
        }
        self.values += values.len();
        self.chars += chars;
        for keyword in ["$defs", "definitions", "properties"] {
            for (name, schema) in schema
                .get(keyword)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                self.properties += usize::from(keyword == "properties");
                self.chars += length(name);
                if !self.add(root, schema, level) {
                    return false;
                }
            }
        }
        let branches = schema.get("anyOf").and_then(Value::as_array);
        let mut inner = branches.into_iter().flatten().chain(schema.get("items"));
        inner.all(|schema| self.add(root, schema, level))
    }
}

fn is_object(schema: &Value) -> bool {
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        name => name.is_some_and(|name| name == "object"),
    }
}

fn leads_somewhere(root: &Value, reference: &Value) -> bool {
    let pointer = reference.as_str().and_then(|text| text.strip_prefix('#'));
    pointer.is_some_and(|pointer| root.pointer(pointer).is_some())
}

/// Whether two objects of an `anyOf` begin with the same property, and nothing tells the two apart there.
fn begin_alike(schema: &Value) -> bool {
    let branches = schema.get("anyOf").and_then(Value::as_array);
    let firsts: Vec<(&String, Vec<&Value>)> = branches
        .into_iter()
        .flatten()
        .filter_map(|branch| branch.get("properties")?.as_object()?.iter().next())
        .map(|(name, schema)| (name, literals(schema)))
        .collect();
    firsts.iter().enumerate().any(|(at, (name, values))| {
        firsts.iter().skip(at + 1).any(|(other, others)| {
            let differ = !values.is_empty()
                && !others.is_empty()
                && values.iter().all(|value| !others.contains(value));
            name == other && !differ
        })
    })
}

/// The fixed values of a schema.
fn literals(schema: &Value) -> Vec<&Value> {
    let several = schema.get("enum").and_then(Value::as_array);
    several.into_iter().flatten().chain(schema.get("const")).collect()
}

fn length(text: &str) -> usize {
    text.chars().count()
}
