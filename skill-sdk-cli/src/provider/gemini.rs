//! Gemini: what holds for every tool, also when its schema is sent as JSON Schema (`parametersJsonSchema`), and when it is
//! sent in the older form, as `parameters`.

use serde_json::Value;

use super::node::{self, listed};
use super::refs;
use super::rule::{Check, Rule, error, warning};
use super::values;

pub(super) static RULES: &[Rule] = &[
    error(
        "gemini.name",
        values::RENAME,
        Check::Name(|name| {
            let begins_badly = || "the name begins with neither a letter nor `_`".to_owned();
            let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
            values::bad_name(name, NAME_CHARS, "_-.:").or_else(|| (!begins_well).then(begins_badly))
        }),
    ),
    error(
        "gemini.root",
        "take a struct",
        Check::Whole(|tree| node::no_object(tree).into_iter().collect()),
    ),
    error(
        "gemini.ref",
        "inline the schema",
        Check::Reference(|reference| reference.beside(|keyword| keyword.starts_with('$'))),
    ),
    error(
        "gemini.ref_target",
        "point it at a definition in `$defs`",
        Check::Reference(refs::dangling),
    ),
    error(
        "gemini.recursion",
        "make the property optional: `Option<Box<T>>`, or `#[serde(default)]` on a list",
        Check::Whole(|tree| {
            let says = "the reference leads back to itself through required properties";
            let places = refs::recursive(tree, true).into_iter();
            places.map(|at| (at, says.to_owned())).collect()
        }),
    ),
    warning(
        "gemini.keyword",
        "tell the model in the description; the server validates the whole schema anyway",
        Check::Schema(|node| node::unknown(node.value, KEYWORDS, "without effect:")),
    ),
    warning(
        "gemini.values",
        "say the other values with `type` or `anyOf`",
        Check::Schema(|node| {
            let mut values = node.value.get("enum")?.as_array()?.iter();
            let found = values.any(|value| !value.is_string() && !value.is_number());
            found.then(|| "a value of the `enum` is neither a text nor a number".to_owned())
        }),
    ),
    warning(
        "gemini.openapi_keyword",
        "let the client send `parametersJsonSchema` instead, or translate the schema",
        Check::Schema(|node| {
            let mut unknown = node::keywords_beside(node.value, OPENAPI_KEYWORDS);
            unknown.retain(|keyword| !(node.is_root() && *keyword == "$schema"));
            (!unknown.is_empty()).then(|| format!("`parameters` has no {}", listed(&unknown)))
        }),
    ),
    warning(
        "gemini.openapi_map",
        "let the client send `parametersJsonSchema` instead, or take a list of keys and values",
        Check::Schema(|node| {
            let is_map = *node.value.get("additionalProperties")? != false;
            is_map.then(|| "the object is a map".to_owned())
        }),
    ),
    warning(
        "gemini.openapi_type",
        "let the client send `parametersJsonSchema` instead, or translate the schema",
        Check::Schema(|node| wrong_type(node.value).map(str::to_owned)),
    ),
    warning(
        "gemini.openapi_values",
        "let the client send `parametersJsonSchema` instead, or translate the schema",
        Check::Schema(|node| wrong_values(node.value).map(str::to_owned)),
    ),
    warning(
        "gemini.openapi_items",
        "add `items`",
        Check::Schema(|node| {
            let without = node::is(node.value, "array") && node.value.get("items").is_none();
            without.then(|| "the list has no `items`".to_owned())
        }),
    ),
    warning(
        "gemini.openapi_properties",
        "let the client leave the schema out",
        Check::Schema(|node| {
            let without = node::is(node.value, "object") && node::properties(node.value).next().is_none();
            without.then(|| "the object has no properties".to_owned())
        }),
    ),
    warning(
        "gemini.openapi_required",
        "describe the property",
        Check::Schema(|node| {
            let unknown = node::undescribed(node.value);
            (!unknown.is_empty()).then(|| format!("required and not described: {}", listed(&unknown)))
        }),
    ),
    warning(
        "gemini.openapi_format",
        "let the client leave it out and tell it in the description",
        Check::Schema(|node| {
            let may_be_text = node::is(node.value, "string") || node.value.get("type").is_none();
            let unknown = node::unknown_format(node.value, "enum date-time", "`parameters`");
            unknown.filter(|_| may_be_text)
        }),
    ),
    warning(
        "gemini.openapi_property_name",
        "rename the field with `#[serde(rename = \"…\")]`",
        Check::Whole(|tree| node::property_names(tree, is_property_name).into_iter().collect()),
    ),
];

const NAME_CHARS: usize = 128;
const PROPERTY_CHARS: usize = 64;

const KEYWORDS: &str = "$schema $id $defs $ref $anchor title description type format enum anyOf oneOf properties required \
    additionalProperties propertyOrdering items prefixItems minItems maxItems minimum maximum";

const OPENAPI_KEYWORDS: &str = "title description default example type format nullable enum anyOf properties required \
    additionalProperties propertyOrdering minProperties maxProperties items minItems maxItems minLength \
    maxLength pattern minimum maximum";

fn wrong_type(schema: &Value) -> Option<&'static str> {
    match schema.get("type") {
        Some(Value::String(name)) if name == "null" => Some("`type` is null"),
        Some(Value::String(_)) => None,
        Some(_) => Some("`type` is a list"),
        None if node::has_any(schema, "anyOf oneOf allOf $ref") => None,
        None => Some("the schema has no `type`"),
    }
}

fn wrong_values(schema: &Value) -> Option<&'static str> {
    let mut values = schema.get("enum")?.as_array()?.iter();
    if values.any(|value| value.as_str().is_none_or(str::is_empty)) {
        Some("a value of the `enum` is empty or not a string")
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
