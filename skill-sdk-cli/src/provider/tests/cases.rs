//! How the cases of the table are written down.

use serde_json::{Value, json};

use super::table;

/// What a provider is sent.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) inputs: Value,
}

impl Tool {
    pub(super) fn of(inputs: Value) -> Self {
        Self {
            name: "tool".to_owned(),
            description: "A tool.".to_owned(),
            inputs,
        }
    }

    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::of(empty())
        }
    }

    pub(super) fn described(description: String) -> Self {
        Self {
            description,
            ..Self::of(empty())
        }
    }
}

/// One rule: a tool that breaks it at the pointer, and one that keeps it.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) rule: &'static str,
    pub(super) pointer: &'static str,
    pub(super) bad: Tool,
    pub(super) good: Tool,
}

pub(super) fn cases() -> Vec<Case> {
    [
        table::openai(),
        table::openai_strict(),
        table::anthropic(),
        table::anthropic_strict(),
        table::gemini(),
        table::gemini_openapi(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The schema of a tool without inputs.
pub(super) fn empty() -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": false})
}

/// A closed object with a required property `v`.
pub(super) fn field(schema: Value) -> Value {
    fields([("v".to_owned(), schema)])
}

/// A closed object with these required properties.
pub(super) fn fields(schemas: impl IntoIterator<Item = (String, Value)>) -> Value {
    let properties: serde_json::Map<String, Value> = schemas.into_iter().collect();
    let names: Vec<_> = properties.keys().cloned().collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// A schema with one member more.
pub(super) fn with(mut schema: Value, member: &str, value: Value) -> Value {
    schema[member] = value;
    schema
}

/// A schema with one member less.
pub(super) fn without(mut schema: Value, member: &str) -> Value {
    schema.as_object_mut().unwrap().shift_remove(member);
    schema
}
