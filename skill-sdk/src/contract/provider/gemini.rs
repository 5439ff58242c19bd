//! Gemini: what holds for every tool, also when its schema is sent as JSON Schema (`parametersJsonSchema`).

use serde_json::Value;

use super::finding::Findings;
use super::node::{self, listed, short};
use super::refs::{self, Target};
use super::rule::{Mode, Rule};
use super::tree::Tree;
use crate::contract::check::Severity;

pub(super) const RULES: &[&Rule] = &[
    &NAME,
    &NAME_UNUSABLE,
    &ROOT,
    &REF,
    &REF_TARGET,
    &RECURSION,
    &KEYWORD,
    &VALUES,
];

pub(super) static NAME: Rule = Rule {
    id: "gemini.name",
    mode: Mode::Always,
    severity: Severity::Warning,
    summary: "A name begins with a letter or `_` and has letters, digits, `_`, `.`, `:` and `-` only.",
    remedy: "a client has to send another name, which the finding tells, and map it back",
    source: "Documentation of `FunctionDeclaration` in the Python library.",
};

pub(super) static NAME_UNUSABLE: Rule = Rule {
    id: "gemini.name_unusable",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "A name has 1 to 128 characters, and something legible is left of it.",
    remedy: "give the skill a shorter name with ASCII letters",
    source: "Documentation of `FunctionDeclaration` in the Python library; 64 in older ones.",
};

static ROOT: Rule = Rule {
    id: "gemini.root",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "The schema is of `type: object`.",
    remedy: "take a struct",
    source: "Documentation of `FunctionDeclaration` in the Python library.",
};

static REF: Rule = Rule {
    id: "gemini.ref",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "Beside a `$ref` there are only keywords that begin with `$`.",
    remedy: "write the schema out in its place",
    source: "Documentation of JSON Schemas in the reference of the API; refusals in public reports from 2026.",
};

static REF_TARGET: Rule = Rule {
    id: "gemini.ref_target",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "A `$ref` leads to something in the same schema.",
    remedy: "point it at a member of `$defs`",
    source: "Follows from the documentation: there is nothing else that the reference could mean.",
};

static RECURSION: Rule = Rule {
    id: "gemini.recursion",
    mode: Mode::Always,
    severity: Severity::Error,
    summary: "A definition is used in itself only inside of a property that is not required.",
    remedy: "make the property optional: `Option<Box<T>>`, or `#[serde(default)]` on a list",
    source: "Documentation of JSON Schemas in the reference of the API.",
};

static KEYWORD: Rule = Rule {
    id: "gemini.keyword",
    mode: Mode::Always,
    severity: Severity::Warning,
    summary: "Only the documented keywords have an effect; `const`, `pattern`, `minLength`, `maxLength`, `default`, `not`, \
              `allOf`, `uniqueItems` and others have none.",
    remedy: "tell the model in the description; the host checks the whole schema anyway",
    source: "List of keywords in the reference of the API.",
};

static VALUES: Rule = Rule {
    id: "gemini.values",
    mode: Mode::Always,
    severity: Severity::Warning,
    summary: "The values of an `enum` are texts and numbers.",
    remedy: "say the other values with `type` or `anyOf`",
    source: "List of keywords in the reference of the API.",
};

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

pub(super) fn check(tree: &Tree<'_>, found: &mut Findings<'_, '_>) {
    if tree.root().get("type").and_then(Value::as_str) != Some("object") {
        found.add(&ROOT, 0, "the schema is not of `type: object`");
    }
    for (at, text, target) in refs::references(tree) {
        let schema = tree.nodes.get(at).map_or(&Value::Null, |node| node.value);
        let mut beside = node::keywords_beside(schema, &[]);
        beside.retain(|keyword| !keyword.starts_with('$'));
        if !beside.is_empty() {
            found.add(&REF, at, format!("{} stands beside `$ref`", listed(&beside)));
        }
        if target == Target::Nowhere {
            found.add(&REF_TARGET, at, format!("`{}` leads nowhere", short(text)));
        }
    }
    for at in refs::recursive(tree, true) {
        found.add(
            &RECURSION,
            at,
            "the reference leads back to itself through required properties",
        );
    }
    for (at, node) in tree.schemas() {
        let ignored = node::keywords_beside(node.value, KEYWORDS);
        if !ignored.is_empty() {
            found.add(&KEYWORD, at, format!("without effect: {}", listed(&ignored)));
        }
        let values = node.value.get("enum").and_then(Value::as_array);
        let is_strange = |value: &Value| !value.is_string() && !value.is_number();
        if values.is_some_and(|values| values.iter().any(is_strange)) {
            found.add(
                &VALUES,
                at,
                "a value of the `enum` is neither a text nor a number",
            );
        }
    }
}
