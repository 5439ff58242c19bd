//! Whether schemas exclude each other, so that a value that satisfies one surely satisfies none of the others.

use serde_json::{Map, Value};

use crate::contract::types::Types;
use crate::validation::choice::{property, resolved, words};

/// How many alternatives are compared, each with each.
const MAX_ALTERNATIVES: usize = 100;

type Members = Map<String, Value>;

/// Whether no value satisfies two of the schemas. `false` when that cannot be shown.
pub(super) fn all(document: &Value, schemas: &[Value]) -> bool {
    let none = Members::new();
    let members: Vec<_> = schemas
        .iter()
        .map(|schema| resolved(document, schema).unwrap_or(&none))
        .collect();
    members.len() <= MAX_ALTERNATIVES
        && members.iter().enumerate().all(|(index, one)| {
            let are_apart = |other: &&Members| {
                values_are_apart(one, other)
                    || objects_are_apart(document, one, other)
                    || objects_are_apart(document, other, one)
            };
            members.iter().skip(index + 1).all(are_apart)
        })
}

/// Whether the types, or the strings of two lists, are different.
fn values_are_apart(one: &Members, other: &Members) -> bool {
    !Types::allowed(one).meets(Types::allowed(other))
        || words(one)
            .zip(words(other))
            .is_some_and(|(one, other)| !one.iter().any(|word| other.contains(word)))
}

/// Whether an object that satisfies `one` surely does not satisfy `other`: for a property that `one` requires.
fn objects_are_apart(document: &Value, one: &Members, other: &Members) -> bool {
    let required = one
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let is_told_apart = |name| match (property(one, name), property(other, name)) {
        (Some(one), Some(other)) => resolved(document, one)
            .zip(resolved(document, other))
            .is_some_and(|(one, other)| values_are_apart(one, other)),
        (None, Some(_)) => false,
        (_, None) => {
            other.get("additionalProperties") == Some(&Value::Bool(false))
                && !other.contains_key("patternProperties")
        }
    };
    one.get("type").is_some_and(|name| name == "object")
        && required.filter_map(Value::as_str).any(is_told_apart)
}
