//! The strict profile of a schema, for structured outputs.
//!
//! A provider that is given it promises answers that fit. Every object is closed and requires all its properties, and only
//! some keywords are known; `docs/reference/provider-rules.md` lists the rules. What the profile cannot say is left out; the answer is checked
//! against the whole schema anyway.

use serde_json::{Map, Value, json};

/// How deep a schema may be.
const MAX_LEVELS: usize = 64;

/// The keywords of the profile that are taken over as they are.
const KEYWORDS: &[&str] = &[
    "title",
    "description",
    "type",
    "enum",
    "const",
    "pattern",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];

/// The formats of the profile.
const FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

/// The strict form of `schema`; `None` when it has none. A provider may still reject a very large one.
pub(super) fn strict(schema: &Value) -> Option<Value> {
    let strict = of(schema, 0)?;
    (is(&strict, "object") && strict.get("anyOf").is_none()).then_some(strict)
}

fn of(schema: &Value, level: usize) -> Option<Value> {
    // A boolean allows anything, or nothing.
    let members = schema.as_object().filter(|_| level < MAX_LEVELS)?;
    if let Some(reference) = members.get("$ref") {
        return Some(json!({"$ref": reference}));
    }
    let mut strict = Map::new();
    for (keyword, value) in members {
        match keyword.as_str() {
            "$defs" | "definitions" => {
                let definitions = value.as_object()?.iter();
                let definitions =
                    definitions.map(|(name, schema)| Some((name.clone(), of(schema, level + 1)?)));
                strict.insert(
                    keyword.clone(),
                    Value::Object(definitions.collect::<Option<_>>()?),
                );
            }
            "items" => {
                strict.insert(keyword.clone(), of(value, level + 1)?);
            }
            "anyOf" | "oneOf" => {
                let branches = value.as_array()?.iter().map(|branch| of(branch, level + 1));
                let branches: Vec<_> = branches.collect::<Option<_>>()?;
                if strict.insert("anyOf".to_owned(), branches.into()).is_some() {
                    return None;
                }
            }
            // Conditions that a value must keep beside others have no strict form; leaving them out would widen too much.
            "allOf" => return None,
            "format" if value.as_str().is_some_and(|format| FORMATS.contains(&format)) => {
                strict.insert(keyword.clone(), value.clone());
            }
            known if KEYWORDS.contains(&known) => {
                strict.insert(keyword.clone(), value.clone());
            }
            _ => {}
        }
    }
    if is(schema, "object") {
        close(members, &mut strict, level)?;
    }
    if strict.get("type").is_none() && strict.get("anyOf").is_none() {
        return None;
    }
    Some(strict.into())
}

/// Makes an object closed, with all its properties required.
fn close(members: &Map<String, Value>, strict: &mut Map<String, Value>, level: usize) -> Option<()> {
    let empty = Map::new();
    let properties = members
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    match members.get("additionalProperties") {
        // A map.
        Some(Value::Object(_)) => return None,
        Some(Value::Bool(false)) => {}
        // An object of which nothing is known.
        _ if properties.is_empty() => return None,
        _ => {}
    }
    let required = members.get("required").and_then(Value::as_array);
    let mut all = Map::new();
    for (name, schema) in properties {
        let schema = of(schema, level + 1)?;
        let is_required = required.is_some_and(|names| names.iter().any(|required| required == name));
        all.insert(name.clone(), if is_required { schema } else { nullable(schema) });
    }
    let names: Vec<_> = all.keys().cloned().collect();
    strict.insert("properties".to_owned(), all.into());
    strict.insert("required".to_owned(), names.into());
    strict.insert("additionalProperties".to_owned(), false.into());
    Some(())
}

/// The schema that null fits too.
fn nullable(mut schema: Value) -> Value {
    let nothing = json!({"type": "null"});
    if is(&schema, "null") {
        return schema;
    }
    match schema.get_mut("anyOf") {
        Some(Value::Array(branches)) if branches.contains(&nothing) => {}
        Some(Value::Array(branches)) => branches.push(nothing),
        _ => return json!({"anyOf": [schema, nothing]}),
    }
    schema
}

/// Whether the type is that, perhaps among others.
fn is(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(names)) => names.iter().any(|known| known == name),
        _ => false,
    }
}
