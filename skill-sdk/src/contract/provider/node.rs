//! Questions about one schema.

use serde_json::Value;

/// The names under `type`, one or several.
pub(super) fn types(schema: &Value) -> impl Iterator<Item = &str> {
    let (one, several) = match schema.get("type") {
        Some(Value::String(name)) => (Some(name.as_str()), None),
        Some(Value::Array(names)) => (None, Some(names)),
        _ => (None, None),
    };
    let several = several.into_iter().flatten().filter_map(Value::as_str);
    one.into_iter().chain(several)
}

/// Whether the type is that, perhaps among others.
pub(super) fn is(schema: &Value, name: &str) -> bool {
    types(schema).any(|found| found == name)
}

/// Whether there is one of these keywords.
pub(super) fn has_any(schema: &Value, keywords: &[&str]) -> bool {
    keywords.iter().any(|keyword| schema.get(keyword).is_some())
}

/// The keywords that are not among the `known`, in document order.
pub(super) fn keywords_beside<'a>(schema: &'a Value, known: &[&str]) -> Vec<&'a str> {
    let all = schema.as_object().into_iter().flat_map(|members| members.keys());
    all.map(String::as_str)
        .filter(|keyword| !known.contains(keyword))
        .collect()
}

/// The names of the properties.
pub(super) fn properties(schema: &Value) -> impl Iterator<Item = &str> {
    let members = schema.get("properties").and_then(Value::as_object);
    members
        .into_iter()
        .flat_map(|members| members.keys())
        .map(String::as_str)
}

/// Whether a property must be there.
pub(super) fn requires(schema: &Value, property: &str) -> bool {
    let names = schema.get("required").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|name| name.as_str() == Some(property)))
}

/// The properties that may be missing.
pub(super) fn optional(schema: &Value) -> Vec<&str> {
    properties(schema)
        .filter(|name| !requires(schema, name))
        .collect()
}

/// The names under `required` that are no properties.
pub(super) fn undescribed(schema: &Value) -> Vec<&str> {
    let names = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    names
        .filter_map(Value::as_str)
        .filter(|name| properties(schema).all(|known| known != *name))
        .collect()
}

/// The values under `enum` and `const`.
pub(super) fn literals(schema: &Value) -> impl Iterator<Item = &Value> {
    let several = schema.get("enum").and_then(Value::as_array);
    several.into_iter().flatten().chain(schema.get("const"))
}

/// Words in a row for a message, cut when there are many: `` `a`, `b` ``.
pub(super) fn listed(words: &[&str]) -> String {
    const MOST: usize = 8;
    let shown: Vec<String> = words
        .iter()
        .take(MOST)
        .map(|word| format!("`{}`", short(word)))
        .collect();
    match words.len().checked_sub(MOST) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A text for a message, cut when it is long, without control characters.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 60;
    let mut short: String = text.chars().take(MOST).flat_map(printable).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}

fn printable(c: char) -> impl Iterator<Item = char> {
    let escaped = c.is_control().then(|| c.escape_default());
    let plain = (!c.is_control()).then_some(c);
    plain.into_iter().chain(escaped.into_iter().flatten())
}
