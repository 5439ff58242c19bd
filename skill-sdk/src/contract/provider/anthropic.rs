//! Anthropic: what holds for every tool.

use super::Provider;
use super::finding::Findings;
use super::names::tool_name;
use super::node::{self, listed, short};
use super::refs::{self, Target};
use super::rule::{Mode, Rule};
use super::tree::Tree;
use crate::contract::check::Severity;

pub(super) const RULES: &[&Rule] = &[
    &NAME,
    &NAME_UNUSABLE,
    &NAME_CONNECTOR,
    &ROOT,
    &PROPERTY_NAME,
    &REF,
];

pub(super) static NAME: Rule = Rule {
    id: "anthropic.name",
    mode: Mode::Always,
    severity: Severity::Warning,
    summary: "A name has letters, digits, `_` and `-` only; no dots.",
    remedy: "a client has to send another name, which the finding tells, and map it back",
    source: "Pattern in the refusal, in public reports from 2025 and 2026.",
};

pub(super) static NAME_UNUSABLE: Rule = Rule {
    id: "anthropic.name_unusable",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "A name has 1 to 128 characters, and something legible is left of it.",
    remedy: "give the skill a shorter name with ASCII letters",
    source: "Pattern in the refusal, in public reports from 2025 and 2026.",
};

static NAME_CONNECTOR: Rule = Rule {
    id: "anthropic.name_connector",
    mode: Mode::Always,
    severity: Severity::Warning,
    summary: "A tool of a connector of the Claude apps has a name of at most 64 characters.",
    remedy: "give the skill a shorter name",
    source: "Pattern in the refusal of the apps, in a public report from 2026: one such name hides all tools.",
};

static ROOT: Rule = Rule {
    id: "anthropic.root",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "The schema is of `type: object` and has no `oneOf`, `anyOf` or `allOf` at the top.",
    remedy: "take a struct with the choice in one of its fields",
    source: "Type of the Python library; text of the refusal in public reports from 2025 and 2026.",
};

static PROPERTY_NAME: Rule = Rule {
    id: "anthropic.property_name",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "A property of the inputs is named with 1 to 64 letters, digits, `_`, `.` and `-`.",
    remedy: "rename the field with `#[serde(rename = \"…\")]`",
    source: "Pattern in the refusal, in public reports from 2025 and 2026.",
};

static REF: Rule = Rule {
    id: "anthropic.ref",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "A `$ref` leads to something in the same schema.",
    remedy: "point it at a member of `$defs`",
    source: "Text of the refusal in a public report from 2026.",
};

const CONNECTOR_CHARS: usize = 64;
const PROPERTY_CHARS: usize = 64;

pub(super) fn check(name: &str, tree: &Tree<'_>, found: &mut Findings<'_, '_>) {
    if let Some(tool) = tool_name(Provider::Anthropic, name)
        && tool.len() > CONNECTOR_CHARS
    {
        let message = format!(
            "the name has {} characters, more than {CONNECTOR_CHARS}",
            tool.len()
        );
        found.add_at(&NAME_CONNECTOR, "/name", message, NAME_CONNECTOR.remedy);
    }
    let root = tree.root();
    if root.get("type").and_then(|name| name.as_str()) != Some("object") {
        found.add(&ROOT, 0, "the schema is not of `type: object`");
    }
    let choices: Vec<_> = ["oneOf", "anyOf", "allOf"]
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
    let refused: Vec<_> = node::properties(root)
        .filter(|name| !is_property_name(name))
        .collect();
    if !refused.is_empty() {
        found.add(
            &PROPERTY_NAME,
            0,
            format!("no names of properties: {}", listed(&refused)),
        );
    }
    for (at, text, target) in refs::references(tree) {
        if target == Target::Nowhere {
            found.add(&REF, at, format!("`{}` leads nowhere", short(text)));
        }
    }
}

fn is_property_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    !name.is_empty() && name.len() <= PROPERTY_CHARS && name.chars().all(is_allowed)
}
