//! What the strict modes of several providers have in common: closed objects, and short lists of what they know.

use serde_json::Value;

use super::finding::Findings;
use super::node::{self, listed, short};
use super::rule::{Mode, Rule};
use super::tree::{Node, Place};
use crate::contract::check::Severity;

/// A rule of a strict mode: a warning, since the tool can be sent without.
pub(super) const fn rule(
    id: &'static str,
    summary: &'static str,
    remedy: &'static str,
    source: &'static str,
) -> Rule {
    Rule {
        id,
        mode: Mode::Strict,
        severity: Severity::Warning,
        summary,
        remedy,
        source,
    }
}

/// What one strict mode knows, and its rules for the rest.
#[derive(Debug)]
pub(super) struct Strict {
    pub(super) closed: &'static Rule,
    pub(super) typed: &'static Rule,
    /// A schema has one of these.
    pub(super) types: &'static [&'static str],
    pub(super) keyword: &'static Rule,
    pub(super) keywords: &'static [&'static str],
    pub(super) format: &'static Rule,
    pub(super) formats: &'static [&'static str],
}

impl Strict {
    pub(super) fn check(&self, at: usize, node: &Node<'_>, found: &mut Findings<'_, '_>) {
        let schema = node.value;
        if node::is(schema, "object") {
            match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => {}
                Some(Value::Object(_)) => found.add(self.closed, at, "the object is a map"),
                _ => found.add(self.closed, at, "the object has no `additionalProperties: false`"),
            }
        }
        if node.place != Place::Root && !node::has_any(schema, self.types) {
            found.add(self.typed, at, "the schema has no `type`");
        }
        let unknown = node::keywords_beside(schema, self.keywords);
        if !unknown.is_empty() {
            let message = format!("strict mode does not know {}", listed(&unknown));
            found.add(self.keyword, at, message);
        }
        if let Some(format) = schema.get("format").and_then(Value::as_str)
            && !self.formats.contains(&format)
        {
            let message = format!("strict mode does not know the format `{}`", short(format));
            found.add(self.format, at, message);
        }
    }
}
