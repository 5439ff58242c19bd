//! Whether schemas exclude each other, so that a value that satisfies one surely satisfies none of the others.

use serde_json::{Map, Value};

use super::plan::Types;

/// How many alternatives are compared, each with each.
const MAX_ALTERNATIVES: usize = 100;

/// How many references are followed.
const MAX_REFERENCES: usize = 10;

/// Whether no value satisfies two of the schemas. `false` when that cannot be shown.
pub(super) fn all(document: &Value, schemas: &[Value]) -> bool {
    let resolved: Option<Vec<_>> = schemas.iter().map(|schema| resolve(document, schema)).collect();
    let Some(resolved) = resolved else {
        return schemas.len() < 2;
    };
    resolved.len() <= MAX_ALTERNATIVES
        && resolved.iter().enumerate().all(|(index, one)| {
            resolved
                .iter()
                .skip(index + 1)
                .all(|other| are_apart(document, one, other) || are_apart(document, other, one))
        })
}

/// What a schema that only refers to another refers to.
fn resolve<'a>(document: &'a Value, schema: &'a Value) -> Option<&'a Map<String, Value>> {
    let mut members = schema.as_object()?;
    for _ in 0..MAX_REFERENCES {
        let Some(target) = members.get("$ref") else {
            return Some(members);
        };
        let pointer = target.as_str()?.strip_prefix('#')?;
        if pointer.contains('%') {
            return None;
        }
        members = document.pointer(pointer)?.as_object()?;
    }
    None
}

fn are_apart(document: &Value, one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    if types_are_apart(one, other) || texts_are_apart(one, other) {
        return true;
    }
    // From here on the value is an object, and has what `one` requires.
    if one.get("type") != Some(&Value::from("object")) {
        return false;
    }
    let required = one
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    required.filter_map(Value::as_str).any(|name| {
        let property = |members| property(members, name).and_then(|schema| resolve(document, schema));
        match (property(one), property(other)) {
            (Some(one), Some(other)) => types_are_apart(one, other) || texts_are_apart(one, other),
            _ => forbids(other, name),
        }
    })
}

fn property<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    members.get("properties")?.get(name)
}

/// Whether an object with the member `name` does not satisfy the schema.
fn forbids(members: &Map<String, Value>, name: &str) -> bool {
    members.get("additionalProperties") == Some(&Value::Bool(false))
        && !members.contains_key("patternProperties")
        && property(members, name).is_none()
}

fn types_are_apart(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    match (types(one), types(other)) {
        (Some(one), Some(other)) => !one.meets(other),
        _ => false,
    }
}

/// The types that a schema allows. An integer may be written as a fraction, so it counts as any number.
fn types(members: &Map<String, Value>) -> Option<Types> {
    let named = |name: &Value| match name.as_str()? {
        "integer" => Types::named("number"),
        name => Types::named(name),
    };
    match members.get("type")? {
        Value::Array(listed) => listed
            .iter()
            .try_fold(Types::NONE, |types, name| Some(types.and(named(name)?))),
        name => named(name),
    }
}

/// Whether both allow texts of a list only, and not the same.
fn texts_are_apart(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    match (texts(one), texts(other)) {
        (Some(one), Some(other)) => !one.iter().any(|text| other.contains(text)),
        _ => false,
    }
}

fn texts(members: &Map<String, Value>) -> Option<Vec<&str>> {
    if let Some(text) = members.get("const") {
        return Some(vec![text.as_str()?]);
    }
    members
        .get("enum")?
        .as_array()?
        .iter()
        .map(Value::as_str)
        .collect()
}
