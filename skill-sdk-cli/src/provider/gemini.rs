//! Gemini: what holds for every tool, also when its schema is sent as JSON Schema (`parametersJsonSchema`), and when it is
//! sent in the older form, as `parameters`.

use serde_json::Value;

use super::node::{self, listed};
use super::refs;
use super::rule::{Check, Rule, error, warning};

pub(super) static RULES: &[Rule] = &[
    warning(
        "gemini.name",
        "A name begins with a letter or `_` and has letters, digits, `_`, `.`, `:` and `-` only.",
        "a client has to send another name, which the finding tells, and map it back",
        "Documentation of `FunctionDeclaration` in the Python library.",
        Check::Name,
    ),
    error(
        "gemini.name_unusable",
        "A name has 1 to 128 characters, and something legible is left of it.",
        "give the skill a shorter name with ASCII letters",
        "Documentation of `FunctionDeclaration` in the Python library; 64 in older ones.",
        Check::NameUnusable,
    ),
    error(
        "gemini.root",
        "The schema is of `type: object`.",
        "take a struct",
        "Documentation of `FunctionDeclaration` in the Python library.",
        Check::Whole(|tree| node::no_object(tree).into_iter().collect()),
    ),
    error(
        "gemini.ref",
        "Beside a `$ref` there are only keywords that begin with `$`.",
        "write the schema out in its place",
        "Documentation of JSON Schemas in the reference of the API; refusals in public reports from 2026.",
        Check::Reference(|reference| reference.beside(|keyword| keyword.starts_with('$'))),
    ),
    error(
        "gemini.ref_target",
        "A `$ref` leads to something in the same schema.",
        "point it at a member of `$defs`",
        "Follows from the documentation: there is nothing else that the reference could mean.",
        Check::Reference(|reference| reference.dangling()),
    ),
    error(
        "gemini.recursion",
        "A definition is used in itself only inside of a property that is not required.",
        "make the property optional: `Option<Box<T>>`, or `#[serde(default)]` on a list",
        "Documentation of JSON Schemas in the reference of the API.",
        Check::Whole(|tree| {
            let says = "the reference leads back to itself through required properties";
            let places = refs::recursive(tree, true).into_iter();
            places.map(|at| (at, says.to_owned())).collect()
        }),
    ),
    warning(
        "gemini.keyword",
        "Only the documented keywords have an effect; `const`, `pattern`, `minLength`, `maxLength`, `default`, \
         `not`, `allOf`, `uniqueItems` and others have none.",
        "tell the model in the description; the host checks the whole schema anyway",
        "List of keywords in the reference of the API.",
        Check::Schema(|node| node::unknown(node.value, KEYWORDS, "without effect:")),
    ),
    warning(
        "gemini.values",
        "The values of an `enum` are texts and numbers.",
        "say the other values with `type` or `anyOf`",
        "List of keywords in the reference of the API.",
        Check::Schema(|node| {
            let mut values = node.value.get("enum")?.as_array()?.iter();
            let found = values.any(|value| !value.is_string() && !value.is_number());
            found.then(|| "a value of the `enum` is neither a text nor a number".to_owned())
        }),
    ),
    warning(
        "gemini.openapi_keyword",
        "Only the keywords of the older form are used: no `$ref`, `$defs`, `const`, `oneOf`, `allOf`, `not`, \
         `exclusiveMinimum`, `uniqueItems` and others. The `$schema` of the root is refused too; every client \
         leaves it out, so it is not reported.",
        "let the client send `parametersJsonSchema` instead, or translate the schema",
        "Type of the Python library, which refuses others; refusals `Cannot find field` in public reports from \
         2025 and 2026.",
        Check::Schema(|node| {
            let mut unknown = node::keywords_beside(node.value, OPENAPI_KEYWORDS);
            unknown.retain(|keyword| !(node.is_root() && *keyword == "$schema"));
            (!unknown.is_empty()).then(|| format!("`parameters` has no {}", listed(&unknown)))
        }),
    ),
    warning(
        "gemini.openapi_map",
        "There are no maps: `additionalProperties` is false, or missing.",
        "let the client send `parametersJsonSchema` instead, or take a list of keys and values",
        "The Python library refuses them for the developer API.",
        Check::Schema(|node| {
            let is_map = *node.value.get("additionalProperties")? != false;
            is_map.then(|| "the object is a map".to_owned())
        }),
    ),
    warning(
        "gemini.openapi_type",
        "Every schema has exactly one `type`, or an `anyOf`; null is `nullable: true`.",
        "let the client send `parametersJsonSchema` instead, or translate the schema",
        "The Python library writes `nullable`; refusals `Proto field is not repeating` and `must be specified` \
         in public reports from 2025 and 2026.",
        Check::Schema(|node| wrong_type(node.value).map(str::to_owned)),
    ),
    warning(
        "gemini.openapi_values",
        "The values of an `enum` are texts that are not empty, and its `type` is string.",
        "let the client send `parametersJsonSchema` instead, or translate the schema",
        "Type of the Python library; refusals `only allowed for STRING type` and `cannot be empty` in public \
         reports.",
        Check::Schema(|node| wrong_values(node.value).map(str::to_owned)),
    ),
    warning(
        "gemini.openapi_items",
        "A list says what its items are.",
        "add `items`",
        "Refusal `items: missing field` in public reports from 2025.",
        Check::Schema(|node| {
            let without = node::is(node.value, "array") && node.value.get("items").is_none();
            without.then(|| "the list has no `items`".to_owned())
        }),
    ),
    warning(
        "gemini.openapi_properties",
        "An object has at least one property; a tool without inputs has no schema at all.",
        "let the client leave the schema out",
        "Refusal `should be non-empty for OBJECT type` in public reports from 2024.",
        Check::Schema(|node| {
            let without = node::is(node.value, "object") && node::properties(node.value).next().is_none();
            without.then(|| "the object has no properties".to_owned())
        }),
    ),
    warning(
        "gemini.openapi_required",
        "What is in `required` is in `properties`.",
        "describe the property",
        "Refusal `property is not defined` in public reports from 2026.",
        Check::Schema(|node| {
            let unknown = node::undescribed(node.value);
            (!unknown.is_empty()).then(|| format!("required and not described: {}", listed(&unknown)))
        }),
    ),
    warning(
        "gemini.openapi_format",
        "A `format` of a text is `enum` or `date-time`.",
        "let the client leave it out and tell it in the description",
        "Refusal `only 'enum' and 'date-time' are supported` in public reports from 2025.",
        Check::Schema(|node| {
            let may_be_text = node::is(node.value, "string") || node.value.get("type").is_none();
            let unknown = node::unknown_format(node.value, &["enum", "date-time"], "`parameters`");
            unknown.filter(|_| may_be_text)
        }),
    ),
    warning(
        "gemini.openapi_property_name",
        "A property of the inputs is named with 1 to 64 letters, digits and `_`, the first one no digit.",
        "rename the field with `#[serde(rename = \"…\")]`",
        "Documentation of `FunctionDeclaration` in the Python library.",
        Check::Whole(|tree| node::property_names(tree, is_property_name).into_iter().collect()),
    ),
];

const PROPERTY_CHARS: usize = 64;

const KEYWORDS: &[&str] = &[
    "$schema",
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "title",
    "description",
    "type",
    "format",
    "enum",
    "anyOf",
    "oneOf",
    "properties",
    "required",
    "additionalProperties",
    "propertyOrdering",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
];

const OPENAPI_KEYWORDS: &[&str] = &[
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

fn wrong_type(schema: &Value) -> Option<&'static str> {
    match schema.get("type") {
        Some(Value::String(name)) if name == "null" => Some("`type` is null"),
        Some(Value::String(_)) => None,
        Some(_) => Some("`type` is a list"),
        None if node::has_any(schema, &["anyOf", "oneOf", "allOf", "$ref"]) => None,
        None => Some("the schema has no `type`"),
    }
}

fn wrong_values(schema: &Value) -> Option<&'static str> {
    let mut values = schema.get("enum")?.as_array()?.iter();
    if values.any(|value| value.as_str().is_none_or(str::is_empty)) {
        Some("a value of the `enum` is no text, or empty")
    } else if node::is(schema, "string") {
        None
    } else {
        Some("the `enum` is not of `type: string`")
    }
}

fn is_property_name(name: &str) -> bool {
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    begins_well && name.len() <= PROPERTY_CHARS && name.chars().all(is_allowed)
}
