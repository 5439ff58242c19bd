//! Questions about one schema.

use serde_json::Value;

use super::tree::{Node, Tree};

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
pub(super) fn has_any(schema: &Value, keywords: &str) -> bool {
    keywords.split(' ').any(|keyword| schema.get(keyword).is_some())
}

/// Whether `word` is in a list of words with spaces between them.
pub(super) fn is_among(word: &str, words: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

/// The keywords that are not among the `known`, in document order.
pub(super) fn keywords_beside<'a>(schema: &'a Value, known: &str) -> Vec<&'a str> {
    let all = schema.as_object().into_iter().flat_map(|members| members.keys());
    all.map(String::as_str)
        .filter(|keyword| !is_among(keyword, known))
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

/// The names under `required` that are not properties.
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

/// Says that an object is open, or a map.
pub(super) fn not_closed(schema: &Value) -> Option<String> {
    let says = match schema.get("additionalProperties") {
        _ if !is(schema, "object") => return None,
        Some(Value::Bool(false)) => return None,
        Some(Value::Object(_)) => "the object is a map",
        _ => "the object has no `additionalProperties: false`",
    };
    Some(says.to_owned())
}

/// Says that a schema has none of the keywords that tell its type.
pub(super) fn untyped(node: &Node<'_>, keywords: &str) -> Option<String> {
    let untyped = !node.is_root() && !has_any(node.value, keywords);
    untyped.then(|| "the schema has no `type`".to_owned())
}

/// Says which keywords are not among the `known`.
pub(super) fn unknown(schema: &Value, known: &str, says: &str) -> Option<String> {
    let unknown = keywords_beside(schema, known);
    (!unknown.is_empty()).then(|| format!("{says} {}", listed(&unknown)))
}

/// Says that the format is not among the `known`.
pub(super) fn unknown_format(schema: &Value, known: &str, who: &str) -> Option<String> {
    let format = schema.get("format")?.as_str()?;
    (!is_among(format, known)).then(|| format!("{who} does not know the format `{}`", short(format)))
}

/// Says that the schema of the inputs is not of type object.
pub(super) fn no_object(tree: &Tree<'_>) -> Option<(usize, String)> {
    let is_object = tree.root().get("type").and_then(Value::as_str) == Some("object");
    (!is_object).then(|| (0, "the schema is not of `type: object`".to_owned()))
}

/// The keywords among these that the schema has at the top.
pub(super) fn at_the_top(tree: &Tree<'_>, keywords: &str) -> Option<(usize, String)> {
    let present = |keyword: &&str| tree.root().get(*keyword).is_some();
    let found: Vec<_> = keywords.split(' ').filter(present).collect();
    (!found.is_empty()).then(|| (0, format!("the schema has {} at the top", listed(&found))))
}

/// Says which properties of the inputs have a name that is not allowed.
pub(super) fn property_names(tree: &Tree<'_>, is_allowed: fn(&str) -> bool) -> Option<(usize, String)> {
    let rejected: Vec<_> = properties(tree.root()).filter(|name| !is_allowed(name)).collect();
    (!rejected.is_empty()).then(|| (0, format!("no names of properties: {}", listed(&rejected))))
}

/// Says that there are more of them than `most`.
pub(super) fn too_many(count: usize, most: usize, says: &str) -> Option<(usize, String)> {
    (count > most).then(|| (0, says.replacen("{}", &count.to_string(), 1)))
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
