//! The order of keywords: what something is, its limits, what is inside, what is said about it.

use serde_json::Value;

use super::walk::bottom_up;

/// Keywords in the order in which they are written. Others come after these in the order in which they were, then
/// `$defs`.
const ORDER: &[&str] = &[
    "$schema",
    "$ref",
    "title",
    "description",
    "deprecated",
    "type",
    "enum",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "prefixItems",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "patternProperties",
    "propertyNames",
    "additionalProperties",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "default",
    "examples",
];

/// Puts the keywords of every schema in `schema` into one order. The order of properties stays.
pub(super) fn ordered(schema: &mut Value) {
    bottom_up(schema, &mut |node| {
        let mut entries: Vec<(String, Value)> = std::mem::take(node).into_iter().collect();
        let rank = |key: &str| ORDER.iter().position(|one| *one == key).unwrap_or(ORDER.len());
        entries.sort_by_key(|(key, _)| rank(key));
        node.extend(entries);
    });
}
