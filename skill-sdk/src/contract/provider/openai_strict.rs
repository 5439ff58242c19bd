//! `OpenAI`: what holds for a tool that is sent with `strict: true`.

use serde_json::Value;

use super::finding::Findings;
use super::node::{self, listed, short};
use super::refs::{self, Target};
use super::rule::Rule;
use super::strict::{Strict, rule};
use super::tree::Tree;

pub(super) const RULES: &[&Rule] = &[
    &CLOSED, &REQUIRED, &TYPE, &KEYWORD, &FORMAT, &REF, &FIRST_KEY, &DEPTH, &SIZE, &ENUM, &TEXT,
];

static CLOSED: Rule = rule(
    "openai.strict_closed",
    "Every object has `additionalProperties: false`; so there are no maps.",
    "write `#[serde(deny_unknown_fields)]` on the struct; take a list of keys and values for a map",
    "Guide to structured outputs; the Python library adds it where it is missing.",
);

static REQUIRED: Rule = rule(
    "openai.strict_required",
    "Every object has a `required` with every property and no other name, also when there are no properties.",
    "let the client require all properties, allow null for those that were optional, and leave nulls out again",
    "Text of the refusal in public reports; the Python library writes such a `required`.",
);

static TYPE: Rule = rule(
    "openai.strict_type",
    "Every schema has a `type`, a `$ref` or an `anyOf`; so no value is arbitrary JSON.",
    "give the field a type of its own",
    "Refusal `schema must have a 'type' key` in public reports from 2026.",
);

static KEYWORD: Rule = rule(
    "openai.strict_keyword",
    "Only the documented keywords are used; `oneOf`, `allOf`, `not`, `default`, `propertyNames`, `uniqueItems`, \
     `minLength` and others are not among them.",
    "let the client leave them out and tell them in the description; the host checks the whole schema anyway",
    "Lists of keywords in the guide to structured outputs, and refusals `… is not permitted` in public reports.",
);

static FORMAT: Rule = rule(
    "openai.strict_format",
    "A `format` is one of date-time, time, date, duration, email, hostname, ipv4, ipv6, uuid.",
    "let the client leave it out and tell it in the description",
    "Guide to structured outputs; refusals `'uri' is not a valid format` in public reports from 2026.",
);

static REF: Rule = rule(
    "openai.strict_ref",
    "A `$ref` leads to a definition of the same schema and stands alone.",
    "write the schema out in its place",
    "Refusals in public reports; the Python library writes out references that do not stand alone.",
);

static FIRST_KEY: Rule = rule(
    "openai.strict_first_key",
    "The objects of one `anyOf` differ in their first property, or in its fixed value.",
    "let the variants begin with a tag (`#[serde(tag = \"kind\")]`)",
    "Refusal `must not share identical first keys` in public reports.",
);

static DEPTH: Rule = rule(
    "openai.strict_depth",
    "At most 10 objects are nested in each other.",
    "flatten the inner structs",
    "Guide to structured outputs; 5 up to 2025.",
);

static SIZE: Rule = rule(
    "openai.strict_properties",
    "There are at most 5000 properties in all.",
    "split the skill",
    "Guide to structured outputs; 100 up to 2025.",
);

static ENUM: Rule = rule(
    "openai.strict_enum",
    "There are at most 1000 fixed values in all, and an `enum` of more than 250 texts has at most 15000 characters.",
    "take a text and check it in the skill",
    "Guide to structured outputs; 500 and 7500 up to 2025.",
);

static TEXT: Rule = rule(
    "openai.strict_text",
    "Names of properties and definitions and fixed texts have at most 120000 characters in all.",
    "split the skill",
    "Guide to structured outputs; 15000 up to 2025.",
);

/// The keywords that strict mode knows.
pub(crate) const KEYWORDS: &[&str] = &[
    "$schema",
    "$defs",
    "definitions",
    "$ref",
    "title",
    "description",
    "type",
    "enum",
    "const",
    "anyOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "pattern",
    "format",
    "multipleOf",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minItems",
    "maxItems",
];

/// The formats that strict mode knows.
pub(crate) const FORMATS: &[&str] = &[
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
];

const LEVELS: usize = 10;
const PROPERTIES: usize = 5000;
const VALUES: usize = 1000;
const LONG_ENUM: usize = 250;
const LONG_ENUM_CHARS: usize = 15_000;
const CHARS: usize = 120_000;

static STRICT: Strict = Strict {
    closed: &CLOSED,
    typed: &TYPE,
    types: &["type", "$ref", "anyOf", "oneOf", "allOf"],
    keyword: &KEYWORD,
    keywords: KEYWORDS,
    format: &FORMAT,
    formats: FORMATS,
};

pub(super) fn check(tree: &Tree<'_>, found: &mut Findings<'_, '_>) {
    for (at, node) in tree.schemas() {
        let schema = node.value;
        STRICT.check(at, node, found);
        if node::is(schema, "object") {
            check_required(at, schema, found);
        }
        check_first_keys(at, schema, found);
        // Its first object beyond the limit is enough.
        if node.level == LEVELS + 1 && node::is(schema, "object") {
            found.add(&DEPTH, at, format!("the object is inside of {LEVELS} others"));
        }
    }
    for (at, text, target) in refs::references(tree) {
        let schema = tree.nodes.get(at).map_or(&Value::Null, |node| node.value);
        let beside: Vec<_> = node::keywords_beside(schema, &["$ref"])
            .into_iter()
            .filter(|keyword| at != 0 || !matches!(*keyword, "$schema" | "$defs" | "definitions"))
            .collect();
        if target == Target::Nowhere {
            found.add(&REF, at, format!("`{}` leads nowhere", short(text)));
        } else if !beside.is_empty() {
            found.add(&REF, at, format!("{} stands beside `$ref`", listed(&beside)));
        }
    }
    check_sizes(tree, found);
}

fn check_required(at: usize, schema: &Value, found: &mut Findings<'_, '_>) {
    let optional = node::optional(schema);
    let strange = node::undescribed(schema);
    if !optional.is_empty() {
        found.add(&REQUIRED, at, format!("not required: {}", listed(&optional)));
    } else if !strange.is_empty() {
        found.add(
            &REQUIRED,
            at,
            format!("required and not described: {}", listed(&strange)),
        );
    } else if schema.get("required").is_none()
        && !schema.get("additionalProperties").is_some_and(Value::is_object)
    {
        // Of a map the rule above has said enough.
        found.add(
            &REQUIRED,
            at,
            "the object has no `required`, not even an empty one",
        );
    }
}

fn check_first_keys(at: usize, schema: &Value, found: &mut Findings<'_, '_>) {
    let branches = schema.get("anyOf").and_then(Value::as_array);
    let mut seen: Vec<(&str, Vec<&Value>)> = Vec::new();
    for branch in branches.into_iter().flatten() {
        let Some((key, value)) = branch
            .get("properties")
            .and_then(Value::as_object)
            .and_then(|members| members.iter().next())
        else {
            continue;
        };
        let fixed: Vec<_> = node::literals(value).collect();
        let same = |(other, values): &(&str, Vec<&Value>)| {
            *other == key
                && (fixed.is_empty() || values.is_empty() || fixed.iter().any(|value| values.contains(value)))
        };
        if seen.iter().any(same) {
            let message = format!("two objects of `anyOf` begin with the property `{}`", short(key));
            found.add(&FIRST_KEY, at, message);
            return;
        }
        seen.push((key, fixed));
    }
}

fn check_sizes(tree: &Tree<'_>, found: &mut Findings<'_, '_>) {
    let (mut properties, mut values, mut chars) = (0, 0, 0);
    for (at, node) in tree.schemas() {
        let definitions = ["$defs", "definitions"]
            .into_iter()
            .filter_map(|keyword| node.value.get(keyword));
        let definitions = definitions
            .filter_map(Value::as_object)
            .flat_map(|members| members.keys());
        properties += node::properties(node.value).count();
        chars += node::properties(node.value).map(length).sum::<usize>();
        chars += definitions.map(|name| length(name)).sum::<usize>();
        let literals: Vec<_> = node::literals(node.value).collect();
        values += literals.len();
        let text = literals
            .iter()
            .filter_map(|value| value.as_str())
            .map(length)
            .sum::<usize>();
        chars += text;
        if literals.len() > LONG_ENUM && text > LONG_ENUM_CHARS {
            let message = format!("{} values of the `enum` have {text} characters", literals.len());
            found.add(&ENUM, at, message);
        }
    }
    if properties > PROPERTIES {
        found.add(&SIZE, 0, format!("there are {properties} properties"));
    }
    if values > VALUES {
        found.add(&ENUM, 0, format!("there are {values} fixed values"));
    }
    if chars > CHARS {
        found.add(&TEXT, 0, format!("names and fixed texts have {chars} characters"));
    }
}

fn length(text: &str) -> usize {
    text.chars().count()
}
