//! Small helpers for messages and JSON pointers.

use serde_json::Value;

/// The longest part of a value that a message repeats, in characters.
const MAX_SHOWN_CHARS: usize = 60;

/// What kind of value it is, with its article.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A value as a message shows it. Containers are only named: printing them would recurse.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(_) | Value::Object(_) => kind(value).to_owned(),
        // With arbitrary precision a number may have any length.
        Value::Number(number) => number.to_string().chars().take(MAX_SHOWN_CHARS).collect(),
        Value::Null | Value::Bool(_) => value.to_string(),
    }
}

/// A text in quotes with its control characters escaped, cut when it is long.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

/// One step of a JSON pointer.
pub(super) fn push_step(pointer: &mut String, key: &str) {
    pointer.push('/');
    for c in key.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// The pointer of the member `key` of what `pointer` points at.
pub(super) fn child(pointer: &str, key: &str) -> String {
    let mut child = pointer.to_owned();
    push_step(&mut child, key);
    child
}

/// The end of a message about an unknown key: the key that was probably meant, else all that are known.
pub(super) fn known_keys(key: &str, known: &[&str]) -> String {
    let plain = |text: &str| -> String {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect()
    };
    let wanted = plain(key);
    known
        .iter()
        .find(|candidate| plain(candidate) == wanted)
        .map_or_else(
            || format!("known are {}", known.join(", ")),
            |candidate| format!("did you mean `{candidate}`?"),
        )
}
