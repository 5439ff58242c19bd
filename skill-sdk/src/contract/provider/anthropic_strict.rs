//! Anthropic: what holds for a tool that is sent with `strict: true`.

use serde_json::Value;

use super::finding::Findings;
use super::node::{self, listed};
use super::refs;
use super::rule::Rule;
use super::strict::{Strict, rule};
use super::tree::{Place, Tree};

pub(super) const RULES: &[&Rule] = &[
    &CLOSED,
    &TYPE,
    &TYPE_LIST,
    &KEYWORD,
    &FORMAT,
    &MIN_ITEMS,
    &VALUES,
    &REF,
    &ALL_OF_REF,
    &RECURSION,
    &OPTIONAL,
    &UNION,
];

static CLOSED: Rule = rule(
    "anthropic.strict_closed",
    "Every object has `additionalProperties: false`; so there are no maps.",
    "write `#[serde(deny_unknown_fields)]` on the struct; take a list of keys and values for a map",
    "Guide to strict tool use; the Python library adds it.",
);

static TYPE: Rule = rule(
    "anthropic.strict_type",
    "Every schema has a `type`, a `$ref`, an `anyOf`, an `allOf` or fixed values; so no value is arbitrary JSON.",
    "give the field a type of its own",
    "The Python library refuses such a schema.",
);

static TYPE_LIST: Rule = rule(
    "anthropic.strict_type_list",
    "A `type` is one name. The API is said to take lists as well; the helper of the vendor's own library stops at them.",
    "a client that uses the vendor's helper has to write an `anyOf` of the types",
    "The Python library fails at a list of types.",
);

static KEYWORD: Rule = rule(
    "anthropic.strict_keyword",
    "Only the documented keywords are used; `minimum`, `maximum`, `minLength`, `maxLength`, `maxItems`, `oneOf`, `not` \
     and others are not among them.",
    "let the client tell them in the description, as the library does; the host checks the whole schema anyway",
    "Guide to structured outputs; refusals `properties … are not supported` in public reports from 2026; the Python \
     library moves them into the description.",
);

static FORMAT: Rule = rule(
    "anthropic.strict_format",
    "A `format` is one of date-time, time, date, duration, email, hostname, uri, ipv4, ipv6, uuid.",
    "let the client leave it out and tell it in the description",
    "Guide to structured outputs; the Python library moves others into the description.",
);

static MIN_ITEMS: Rule = rule(
    "anthropic.strict_min_items",
    "`minItems` is 0 or 1.",
    "let the client leave it out and tell it in the description",
    "Guide to structured outputs; the Python library moves others into the description.",
);

static VALUES: Rule = rule(
    "anthropic.strict_values",
    "Fixed values are texts, numbers, booleans and null.",
    "give the field a type of its own",
    "Guide to structured outputs; the Python library takes no others.",
);

static REF: Rule = rule(
    "anthropic.strict_ref",
    "Nothing stands beside a `$ref`: it would be ignored.",
    "write the schema out in its place",
    "The Python library drops what stands beside it.",
);

static ALL_OF_REF: Rule = rule(
    "anthropic.strict_all_of_ref",
    "There is no `$ref` in an `allOf`.",
    "write the schema out in its place",
    "Guide to structured outputs, as told in a public report from 2026.",
);

static RECURSION: Rule = rule(
    "anthropic.strict_recursion",
    "No definition is used in itself.",
    "leave strict mode off for this tool",
    "Guide to structured outputs, as told in a public report from 2026.",
);

static OPTIONAL: Rule = rule(
    "anthropic.strict_optional",
    "All tools of a request together have at most 24 optional properties.",
    "leave strict mode off for this tool, or make properties required",
    "Limit in public reports from 2026; depends on the model.",
);

static UNION: Rule = rule(
    "anthropic.strict_unions",
    "All tools of a request together have at most 16 properties of several types.",
    "leave strict mode off for this tool, or take properties of one type",
    "Limit told by users of the vendor's documentation; depends on the model.",
);

const KEYWORDS: &[&str] = &[
    "$schema",
    "$defs",
    "definitions",
    "$ref",
    "title",
    "description",
    "default",
    "type",
    "enum",
    "const",
    "anyOf",
    "allOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "pattern",
    "format",
];

const FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "uri",
    "ipv4",
    "ipv6",
    "uuid",
];

const MOST_OPTIONAL: usize = 24;
const MOST_UNIONS: usize = 16;

static STRICT: Strict = Strict {
    closed: &CLOSED,
    typed: &TYPE,
    types: &["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"],
    keyword: &KEYWORD,
    keywords: KEYWORDS,
    format: &FORMAT,
    formats: FORMATS,
};

pub(super) fn check(tree: &Tree<'_>, found: &mut Findings<'_, '_>) {
    let (mut optional, mut unions) = (0, 0);
    let mut lists = Vec::new();
    for (at, node) in tree.schemas() {
        let schema = node.value;
        STRICT.check(at, node, found);
        let fewest = schema.get("minItems").and_then(Value::as_f64);
        if let Some(fewest) = fewest.filter(|fewest| *fewest > 1.0) {
            found.add(&MIN_ITEMS, at, format!("`minItems` is {fewest}"));
        }
        if node::literals(schema).any(|value| value.is_array() || value.is_object()) {
            found.add(&VALUES, at, "a fixed value is a list or an object");
        }
        if node.place == Place::Branch("allOf") && schema.get("$ref").is_some() {
            found.add(&ALL_OF_REF, at, "`$ref` stands in `allOf`");
        }
        if schema.get("type").is_some_and(Value::is_array) {
            lists.push(at);
        }
        optional += node::optional(schema).len();
        let several =
            schema.get("type").is_some_and(Value::is_array) || node::has_any(schema, &["anyOf", "oneOf"]);
        unions += usize::from(several && matches!(node.place, Place::Property(_)));
    }
    // Every optional property has one, so they are counted.
    if let Some(first) = lists.first() {
        let message = match lists.len() {
            1 => "`type` is a list".to_owned(),
            count => format!("`type` is a list in {count} schemas, first here"),
        };
        found.add(&TYPE_LIST, *first, message);
    }
    for (at, ..) in refs::references(tree) {
        let schema = tree.nodes.get(at).map_or(&Value::Null, |node| node.value);
        let beside = node::keywords_beside(schema, &["$ref", "$defs", "definitions", "$schema"]);
        if !beside.is_empty() {
            found.add(&REF, at, format!("{} stands beside `$ref`", listed(&beside)));
        }
    }
    for at in refs::recursive(tree, false) {
        found.add(&RECURSION, at, "the reference leads back to itself");
    }
    if optional > MOST_OPTIONAL {
        found.add(&OPTIONAL, 0, format!("{optional} properties are optional"));
    }
    if unions > MOST_UNIONS {
        found.add(&UNION, 0, format!("{unions} properties have several types"));
    }
}
