//! Anthropic: what holds for every tool, and for a tool that is sent with `strict: true`.

use serde_json::Value;

use super::node;
use super::refs;
use super::rule::{Check, Rule, error, warning};
use super::tree::Node;
use super::values;

pub(super) static RULES: &[Rule] = &[
    error(
        "anthropic.name",
        values::RENAME,
        Check::Name(|name| values::bad_name(name, NAME_CHARS, "_-")),
    ),
    error(
        "anthropic.root",
        "take a struct with the choice in one of its fields",
        Check::Whole(|tree| {
            node::no_object(tree)
                .into_iter()
                .chain(node::at_the_top(tree, "oneOf anyOf allOf"))
                .collect()
        }),
    ),
    error(
        "anthropic.property_name",
        "rename the field with `#[serde(rename = \"…\")]`",
        Check::Whole(|tree| node::property_names(tree, is_property_name).into_iter().collect()),
    ),
    error(
        "anthropic.ref",
        "point it at a definition in `$defs`",
        Check::Reference(refs::dangling),
    ),
    error(
        "anthropic.integer",
        "take a smaller number, or a text",
        Check::Schema(|node| values::beyond_64_bits(node.value)),
    ),
    warning(
        "anthropic.strict_closed",
        "write `#[serde(deny_unknown_fields)]` on the struct; take a list of keys and values for a map",
        Check::Schema(|node| node::not_closed(node.value)),
    ),
    warning(
        "anthropic.strict_type",
        "give the field a type of its own",
        Check::Schema(|node| node::untyped(node, TYPES)),
    ),
    warning(
        "anthropic.strict_type_list",
        "a client that uses the vendor's helper has to write an `anyOf` of the types",
        Check::Whole(|tree| {
            // Every optional property has one, so they are counted.
            let mut lists = tree
                .schemas()
                .filter(|(_, node)| has_type_list(node))
                .map(|(at, _)| at);
            let first = lists.next();
            let says = |at| match lists.count() {
                0 => (at, "`type` is a list".to_owned()),
                more => (
                    at,
                    format!("`type` is a list in {} schemas, first here", more + 1),
                ),
            };
            first.map(says).into_iter().collect()
        }),
    ),
    warning(
        "anthropic.strict_keyword",
        "let the client tell them in the description, as the library does; the server validates the whole schema \
         anyway",
        Check::Schema(|node| node::unknown(node.value, KEYWORDS, "strict mode does not know")),
    ),
    warning(
        "anthropic.strict_pattern",
        "leave strict mode off for this tool",
        Check::Schema(|node| values::patterns(node.value).find_map(values::not_python)),
    ),
    warning(
        "anthropic.strict_format",
        "let the client leave it out and tell it in the description",
        Check::Schema(|node| node::unknown_format(node.value, FORMATS, "strict mode")),
    ),
    warning(
        "anthropic.strict_min_items",
        "let the client leave it out and tell it in the description",
        Check::Schema(|node| {
            let fewest = node.value.get("minItems")?.as_f64()?;
            (fewest > 1.0).then(|| format!("`minItems` is {fewest}"))
        }),
    ),
    warning(
        "anthropic.strict_values",
        "give the field a type of its own",
        Check::Schema(|node| {
            let has_parts = |value: &Value| value.is_array() || value.is_object();
            let found = node::literals(node.value).any(has_parts);
            found.then(|| "a fixed value is a list or an object".to_owned())
        }),
    ),
    warning(
        "anthropic.strict_ref",
        "inline the schema",
        Check::Reference(|reference| reference.beside(|keyword| node::is_among(keyword, BESIDE_REF))),
    ),
    warning(
        "anthropic.strict_all_of_ref",
        "inline the schema",
        Check::Schema(|node| {
            let found = node.keyword == "allOf" && node.value.get("$ref").is_some();
            found.then(|| "`$ref` stands in `allOf`".to_owned())
        }),
    ),
    warning(
        "anthropic.strict_recursion",
        "leave strict mode off for this tool",
        Check::Whole(|tree| {
            let says = "the reference leads back to itself";
            let places = refs::recursive(tree, false).into_iter();
            places.map(|at| (at, says.to_owned())).collect()
        }),
    ),
    warning(
        "anthropic.strict_optional",
        "leave strict mode off for this tool, or make properties required",
        Check::Whole(|tree| {
            let count = tree
                .schemas()
                .map(|(_, node)| node::optional(node.value).len())
                .sum();
            node::too_many(count, MOST_OPTIONAL, "{} properties are optional")
                .into_iter()
                .collect()
        }),
    ),
    warning(
        "anthropic.strict_unions",
        "leave strict mode off for this tool, or take properties of one type",
        Check::Whole(|tree| {
            let is_union = |node: &Node<'_>| {
                node.property().is_some() && (has_type_list(node) || node::has_any(node.value, "anyOf oneOf"))
            };
            let count = tree.schemas().filter(|(_, node)| is_union(node)).count();
            node::too_many(count, MOST_UNIONS, "{} properties have several types")
                .into_iter()
                .collect()
        }),
    ),
];

/// The API takes 128, connectors of the Claude apps 64.
const NAME_CHARS: usize = 64;
const PROPERTY_CHARS: usize = 64;
const MOST_OPTIONAL: usize = 24;
const MOST_UNIONS: usize = 16;

const TYPES: &str = "type $ref anyOf oneOf allOf enum const";

const BESIDE_REF: &str = "$defs definitions $schema";

const KEYWORDS: &str = "$schema $defs definitions $ref title description default type enum const anyOf allOf properties \
    required additionalProperties items minItems pattern format";

const FORMATS: &str = "date-time time date duration email hostname uri ipv4 ipv6 uuid";

fn has_type_list(node: &Node<'_>) -> bool {
    node.value.get("type").is_some_and(Value::is_array)
}

fn is_property_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    !name.is_empty() && name.len() <= PROPERTY_CHARS && name.chars().all(is_allowed)
}
