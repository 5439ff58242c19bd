//! `OpenAI`: what holds for every tool.

use super::finding::Findings;
use super::node::{self, listed};
use super::rule::{Mode, Rule};
use super::tree::Tree;
use crate::contract::check::Severity;

pub(super) const RULES: &[&Rule] = &[
    &NAME,
    &NAME_UNUSABLE,
    &DESCRIPTION_LENGTH,
    &ROOT,
    &PROPERTIES,
    &ITEMS,
];

pub(super) static NAME: Rule = Rule {
    id: "openai.name",
    mode: Mode::Always,
    severity: Severity::Warning,
    summary: "A name has letters, digits, `_` and `-` only; no dots.",
    remedy: "a client has to send another name, which the finding tells, and map it back",
    source: "Reference of function definitions, as in the type of the Python library.",
};

pub(super) static NAME_UNUSABLE: Rule = Rule {
    id: "openai.name_unusable",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "A name has 1 to 64 characters, and something legible is left of it.",
    remedy: "give the skill a shorter name with ASCII letters",
    source: "Reference of function definitions, as in the type of the Python library.",
};

static DESCRIPTION_LENGTH: Rule = Rule {
    id: "openai.description_length",
    mode: Mode::Always,
    severity: Severity::Warning,
    summary: "A description has at most 1024 characters.",
    remedy: "say the essential in the first 1024 characters, so that a client may cut the rest",
    source: "Refusals (`string_above_max_length`) up to 2025 in public reports; newer models take more.",
};

static ROOT: Rule = Rule {
    id: "openai.root",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "The schema is of `type: object` and has no `oneOf`, `anyOf`, `allOf`, `enum`, `const` or `not` at the top.",
    remedy: "take a struct with the choice in one of its fields",
    source: "Text of the refusal in public reports from 2025 and 2026; it lists the keywords.",
};

static PROPERTIES: Rule = Rule {
    id: "openai.properties",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "The schema has `properties`, even if there are none.",
    remedy: "add `\"properties\": {}`",
    source: "Refusal `object schema missing properties` in public reports about tools without arguments.",
};

static ITEMS: Rule = Rule {
    id: "openai.items",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "A list says what its items are: `items`, also beside `prefixItems` and in a list of types.",
    remedy: "add `items`",
    source: "Refusal `array schema missing items` in public reports from 2024 to 2025.",
};

const DESCRIPTION_CHARS: usize = 1024;

pub(super) fn check(description: &str, tree: &Tree<'_>, found: &mut Findings<'_, '_>) {
    let chars = description.chars().count();
    if chars > DESCRIPTION_CHARS {
        let message = format!("the description has {chars} characters, more than {DESCRIPTION_CHARS}");
        found.add_at(
            &DESCRIPTION_LENGTH,
            "/description",
            message,
            DESCRIPTION_LENGTH.remedy,
        );
    }
    let root = tree.root();
    if root.get("type").and_then(|name| name.as_str()) != Some("object") {
        found.add(&ROOT, 0, "the schema is not of `type: object`");
    } else if root.get("properties").is_none() {
        found.add(&PROPERTIES, 0, "the schema has no `properties`");
    }
    let choices: Vec<_> = ["oneOf", "anyOf", "allOf", "enum", "const", "not"]
        .into_iter()
        .filter(|keyword| root.get(keyword).is_some())
        .collect();
    if !choices.is_empty() {
        found.add(
            &ROOT,
            0,
            format!("the schema has {} at the top", listed(&choices)),
        );
    }
    for (at, schema) in tree.schemas() {
        if node::is(schema.value, "array") && schema.value.get("items").is_none() {
            found.add(&ITEMS, at, "the list has no `items`");
        }
    }
}
