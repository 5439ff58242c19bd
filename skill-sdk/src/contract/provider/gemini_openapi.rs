//! Gemini: what holds for a tool whose schema is sent in the older form, as `parameters`.

use serde_json::Value;

use super::finding::Findings;
use super::node::{self, listed, short};
use super::rule::{Mode, Rule};
use super::tree::{Place, Tree};
use crate::contract::check::Severity;

pub(super) const RULES: &[&Rule] = &[
    &KEYWORD,
    &MAP,
    &TYPE,
    &VALUES,
    &ITEMS,
    &PROPERTIES,
    &REQUIRED,
    &FORMAT,
    &PROPERTY_NAME,
];

const fn rule(id: &'static str, summary: &'static str, remedy: &'static str, source: &'static str) -> Rule {
    Rule {
        id,
        mode: Mode::OpenApi,
        severity: Severity::Warning,
        summary,
        remedy,
        source,
    }
}

static KEYWORD: Rule = rule(
    "gemini.openapi_keyword",
    "Only the keywords of the older form are used: no `$ref`, `$defs`, `const`, `oneOf`, `allOf`, `not`, \
     `exclusiveMinimum`, `uniqueItems` and others. The `$schema` of the root is refused too; every client leaves it out, \
     so it is not reported.",
    "let the client send `parametersJsonSchema` instead, or translate the schema",
    "Type of the Python library, which refuses others; refusals `Cannot find field` in public reports from 2025 and 2026.",
);

static MAP: Rule = rule(
    "gemini.openapi_map",
    "There are no maps: `additionalProperties` is false, or missing.",
    "let the client send `parametersJsonSchema` instead, or take a list of keys and values",
    "The Python library refuses them for the developer API.",
);

static TYPE: Rule = rule(
    "gemini.openapi_type",
    "Every schema has exactly one `type`, or an `anyOf`; null is `nullable: true`.",
    "let the client send `parametersJsonSchema` instead, or translate the schema",
    "The Python library writes `nullable`; refusals `Proto field is not repeating` and `must be specified` in public reports from 2025 and 2026.",
);

static VALUES: Rule = rule(
    "gemini.openapi_values",
    "The values of an `enum` are texts that are not empty, and its `type` is string.",
    "let the client send `parametersJsonSchema` instead, or translate the schema",
    "Type of the Python library; refusals `only allowed for STRING type` and `cannot be empty` in public reports.",
);

static ITEMS: Rule = rule(
    "gemini.openapi_items",
    "A list says what its items are.",
    "add `items`",
    "Refusal `items: missing field` in public reports from 2025.",
);

static PROPERTIES: Rule = rule(
    "gemini.openapi_properties",
    "An object has at least one property; a tool without inputs has no schema at all.",
    "let the client leave the schema out",
    "Refusal `should be non-empty for OBJECT type` in public reports from 2024.",
);

static REQUIRED: Rule = rule(
    "gemini.openapi_required",
    "What is in `required` is in `properties`.",
    "describe the property",
    "Refusal `property is not defined` in public reports from 2026.",
);

static FORMAT: Rule = rule(
    "gemini.openapi_format",
    "A `format` of a text is `enum` or `date-time`.",
    "let the client leave it out and tell it in the description",
    "Refusal `only 'enum' and 'date-time' are supported` in public reports from 2025.",
);

static PROPERTY_NAME: Rule = rule(
    "gemini.openapi_property_name",
    "A property of the inputs is named with 1 to 64 letters, digits and `_`, the first one no digit.",
    "rename the field with `#[serde(rename = \"…\")]`",
    "Documentation of `FunctionDeclaration` in the Python library.",
);

const KEYWORDS: &[&str] = &[
    "title",
    "description",
    "default",
    "example",
    "type",
    "format",
    "nullable",
    "enum",
    "anyOf",
    "properties",
    "required",
    "additionalProperties",
    "propertyOrdering",
    "minProperties",
    "maxProperties",
    "items",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
];

const PROPERTY_CHARS: usize = 64;

pub(super) fn check(tree: &Tree<'_>, found: &mut Findings<'_, '_>) {
    for (at, node) in tree.schemas() {
        let schema = node.value;
        let is_root = node.place == Place::Root;
        let mut unknown = node::keywords_beside(schema, KEYWORDS);
        unknown.retain(|keyword| !(is_root && *keyword == "$schema"));
        if !unknown.is_empty() {
            found.add(&KEYWORD, at, format!("`parameters` has no {}", listed(&unknown)));
        }
        let rest = schema.get("additionalProperties");
        if rest.is_some_and(|rest| *rest != Value::Bool(false)) {
            found.add(&MAP, at, "the object is a map");
        }
        check_type(at, schema, found);
        if node::is(schema, "array") && schema.get("items").is_none() {
            found.add(&ITEMS, at, "the list has no `items`");
        }
        if node::is(schema, "object") && node::properties(schema).next().is_none() {
            found.add(&PROPERTIES, at, "the object has no properties");
        }
        let unknown = node::undescribed(schema);
        if !unknown.is_empty() {
            found.add(
                &REQUIRED,
                at,
                format!("required and not described: {}", listed(&unknown)),
            );
        }
        if let Some(format) = schema.get("format").and_then(Value::as_str)
            && (node::is(schema, "string") || schema.get("type").is_none())
            && !matches!(format, "enum" | "date-time")
        {
            found.add(
                &FORMAT,
                at,
                format!("`parameters` does not know the format `{}`", short(format)),
            );
        }
    }
    let refused: Vec<_> = node::properties(tree.root())
        .filter(|name| !is_property_name(name))
        .collect();
    if !refused.is_empty() {
        found.add(
            &PROPERTY_NAME,
            0,
            format!("no names of properties: {}", listed(&refused)),
        );
    }
}

fn check_type(at: usize, schema: &Value, found: &mut Findings<'_, '_>) {
    match schema.get("type") {
        Some(Value::String(name)) if name == "null" => found.add(&TYPE, at, "`type` is null"),
        Some(Value::String(_)) => {}
        Some(_) => found.add(&TYPE, at, "`type` is a list"),
        None if node::has_any(schema, &["anyOf", "oneOf", "allOf", "$ref"]) => {}
        None => found.add(&TYPE, at, "the schema has no `type`"),
    }
    let Some(values) = schema.get("enum").and_then(Value::as_array) else {
        return;
    };
    if values
        .iter()
        .any(|value| value.as_str().is_none_or(str::is_empty))
    {
        found.add(&VALUES, at, "a value of the `enum` is no text, or empty");
    } else if !node::is(schema, "string") {
        found.add(&VALUES, at, "the `enum` is not of `type: string`");
    }
}

fn is_property_name(name: &str) -> bool {
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    begins_well && name.len() <= PROPERTY_CHARS && name.chars().all(is_allowed)
}
