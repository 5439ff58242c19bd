//! `OpenAI`: what holds for every tool, and for a tool that is sent with `strict: true`.

use serde_json::Value;

use super::node::{self, listed, short};
use super::refs;
use super::rule::{Check, Rule, error, warning};
use super::tree::Tree;
use super::values;

pub(super) static RULES: &[Rule] = &[
    error(
        "openai.name",
        values::RENAME,
        Check::Name(|name| values::bad_name(name, NAME_CHARS, "_-")),
    ),
    warning(
        "openai.description_length",
        "say the essential in the first 1024 characters, so that a client may cut the rest",
        Check::Description(|text| {
            let chars = length(text);
            let says = || format!("the description has {chars} characters, more than {DESCRIPTION_CHARS}");
            (chars > DESCRIPTION_CHARS).then(says)
        }),
    ),
    error(
        "openai.root",
        "take a struct with the choice in one of its fields",
        Check::Whole(|tree| {
            let choices = "oneOf anyOf allOf enum const not";
            node::no_object(tree)
                .into_iter()
                .chain(node::at_the_top(tree, choices))
                .collect()
        }),
    ),
    error(
        "openai.properties",
        "add `\"properties\": {}`",
        Check::Whole(|tree| {
            let missing = node::no_object(tree).is_none() && tree.root().get("properties").is_none();
            let says = || (0, "the schema has no `properties`".to_owned());
            missing.then(says).into_iter().collect()
        }),
    ),
    error(
        "openai.items",
        "add `items`",
        Check::Schema(|node| {
            let without = node::is(node.value, "array") && node.value.get("items").is_none();
            without.then(|| "the list has no `items`".to_owned())
        }),
    ),
    error(
        "openai.pattern",
        "write it without, and check the rest in the skill",
        Check::Schema(|node| values::patterns(node.value).find_map(values::not_python)),
    ),
    warning(
        "openai.strict_closed",
        "write `#[serde(deny_unknown_fields)]` on the struct; take a list of keys and values for a map",
        Check::Schema(|node| node::not_closed(node.value)),
    ),
    warning(
        "openai.strict_required",
        "let the client require all properties, allow null for those that were optional, and leave nulls out \
         again",
        Check::Schema(|node| incomplete_required(node.value)),
    ),
    warning(
        "openai.strict_type",
        "give the field a type of its own",
        Check::Schema(|node| node::untyped(node, "type $ref anyOf oneOf allOf")),
    ),
    warning(
        "openai.strict_keyword",
        "let the client leave them out and tell them in the description; the server validates the whole schema anyway",
        Check::Schema(|node| node::unknown(node.value, KEYWORDS, "strict mode does not know")),
    ),
    warning(
        "openai.strict_format",
        "let the client leave it out and tell it in the description",
        Check::Schema(|node| node::unknown_format(node.value, FORMATS, "strict mode")),
    ),
    warning(
        "openai.strict_ref",
        "inline the schema",
        Check::Reference(|reference| {
            let at_root = reference.at == 0;
            let beside = || reference.beside(|keyword| at_root && node::is_among(keyword, ROOT_KEYWORDS));
            refs::dangling(reference).or_else(beside)
        }),
    ),
    warning(
        "openai.strict_first_key",
        "let the variants begin with a tag (`#[serde(tag = \"kind\")]`)",
        Check::Schema(|node| same_first_key(node.value)),
    ),
    warning(
        "openai.strict_depth",
        "flatten the inner structs",
        Check::Schema(|node| {
            // The first object beyond the limit is enough.
            let first = node.level == LEVELS + 1 && node::is(node.value, "object");
            first.then(|| format!("the object is inside of {LEVELS} others"))
        }),
    ),
    warning(
        "openai.strict_properties",
        "split the skill",
        Check::Whole(|tree| {
            let count = tree
                .schemas()
                .map(|(_, node)| node::properties(node.value).count())
                .sum();
            node::too_many(count, PROPERTIES, "there are {} properties")
                .into_iter()
                .collect()
        }),
    ),
    warning(
        "openai.strict_enum",
        "take a text and check it in the skill",
        Check::Whole(many_values),
    ),
    warning(
        "openai.strict_text",
        "split the skill",
        Check::Whole(|tree| {
            let chars = tree.schemas().map(|(_, node)| chars(node.value)).sum();
            node::too_many(chars, CHARS, "names and fixed texts have {} characters")
                .into_iter()
                .collect()
        }),
    ),
];

const NAME_CHARS: usize = 64;
const DESCRIPTION_CHARS: usize = 1024;
const LEVELS: usize = 10;
const PROPERTIES: usize = 5000;
const VALUES: usize = 1000;
const LONG_ENUM: usize = 250;
const LONG_ENUM_CHARS: usize = 15_000;
const CHARS: usize = 120_000;

/// The keywords that may be beside a `$ref` at the top.
const ROOT_KEYWORDS: &str = "$schema $defs definitions";

/// The keywords that strict mode knows.
const KEYWORDS: &str = "$schema $defs definitions $ref title description type enum const anyOf properties required \
    additionalProperties items pattern format multipleOf minimum maximum exclusiveMinimum \
    exclusiveMaximum minItems maxItems";

/// The formats that strict mode knows.
const FORMATS: &str = "date-time time date duration email hostname ipv4 ipv6 uuid";

fn incomplete_required(schema: &Value) -> Option<String> {
    if !node::is(schema, "object") {
        return None;
    }
    let optional = node::optional(schema);
    let strange = node::undescribed(schema);
    let is_map = schema.get("additionalProperties").is_some_and(Value::is_object);
    if !optional.is_empty() {
        Some(format!("not required: {}", listed(&optional)))
    } else if !strange.is_empty() {
        Some(format!("required and not described: {}", listed(&strange)))
    } else if schema.get("required").is_none() && !is_map {
        // Of a map `strict_closed` has said enough.
        Some("the object has no `required`, not even an empty one".to_owned())
    } else {
        None
    }
}

fn same_first_key(schema: &Value) -> Option<String> {
    let branches = schema.get("anyOf")?.as_array()?;
    let mut seen: Vec<(&str, Vec<&Value>)> = Vec::new();
    for branch in branches {
        let members = branch.get("properties").and_then(Value::as_object);
        let Some((key, value)) = members.and_then(|members| members.iter().next()) else {
            continue;
        };
        let fixed: Vec<_> = node::literals(value).collect();
        let same = |(other, values): &(&str, Vec<&Value>)| {
            *other == key
                && (fixed.is_empty() || values.is_empty() || fixed.iter().any(|value| values.contains(value)))
        };
        if seen.iter().any(same) {
            return Some(format!(
                "two objects of `anyOf` begin with the property `{}`",
                short(key)
            ));
        }
        seen.push((key, fixed));
    }
    None
}

fn many_values(tree: &Tree<'_>) -> Vec<(usize, String)> {
    let long = tree.schemas().filter_map(|(at, node)| {
        let (count, chars) = (node::literals(node.value).count(), literal_chars(node.value));
        let is_long = count > LONG_ENUM && chars > LONG_ENUM_CHARS;
        is_long.then(|| {
            (
                at,
                format!("{count} values of the `enum` have {chars} characters"),
            )
        })
    });
    let all = tree
        .schemas()
        .map(|(_, node)| node::literals(node.value).count())
        .sum();
    long.chain(node::too_many(all, VALUES, "there are {} fixed values"))
        .collect()
}

/// The characters of the names of properties and definitions, and of fixed texts.
fn chars(schema: &Value) -> usize {
    let members = ["properties", "$defs", "definitions"]
        .into_iter()
        .filter_map(|keyword| schema.get(keyword)?.as_object());
    let names = members.flat_map(|members| members.keys());
    names.map(|name| length(name)).sum::<usize>() + literal_chars(schema)
}

fn literal_chars(schema: &Value) -> usize {
    node::literals(schema).filter_map(Value::as_str).map(length).sum()
}

fn length(text: &str) -> usize {
    text.chars().count()
}
