//! Small helpers for messages and JSON pointers.

use serde_json::Value;

use crate::rules::short;

/// What kind of value it is, with its article.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A value as a message shows it. Containers are only named: printing them would recurse.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) | Value::Object(_) => kind(value).to_owned(),
        // With arbitrary precision a number may have any length.
        Value::Number(_) | Value::Null | Value::Bool(_) => short(&value.to_string()),
    }
}

/// A text in quotes with its control characters escaped, cut when it is long.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", short(text))
}

/// The pointer of the field `key` of what `pointer` points at.
pub(crate) fn child(pointer: &str, key: &str) -> String {
    let step = key.replace('~', "~0").replace('/', "~1");
    format!("{pointer}/{step}")
}
