//! What is reported when a tool breaks a rule.

use std::fmt;

use serde::Serialize;

use super::rule::Rule;
use super::tree::Tree;
use crate::contract::check::Severity;

/// One rule of a provider that a tool breaks, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// The id of the [`Rule`].
    pub rule: &'static str,
    /// The severity of the rule.
    pub severity: Severity,
    /// JSON pointer into the tool `{"name", "description", "inputs"}`.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl Finding {
    /// Whether the provider refuses the tool, whatever a client does.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            pointer,
            message,
            remedy,
            ..
        } = self;
        write!(f, "{pointer}: {message}; {remedy} [{rule}]")
    }
}

/// The findings of one check.
#[derive(Debug)]
pub(super) struct Findings<'t, 'a> {
    tree: &'t Tree<'a>,
    list: Vec<Finding>,
}

impl<'t, 'a> Findings<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>) -> Self {
        Self {
            tree,
            list: Vec::new(),
        }
    }

    /// Reports a rule that the schema `at` breaks, with the remedy of the rule.
    pub(super) fn add(&mut self, rule: &'static Rule, at: usize, message: impl Into<String>) {
        let pointer = self.tree.pointer(at);
        self.add_at(rule, pointer, message, rule.remedy);
    }

    pub(super) fn add_at(
        &mut self,
        rule: &'static Rule,
        pointer: impl Into<String>,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.list.push(Finding {
            rule: rule.id,
            severity: rule.severity,
            pointer: pointer.into(),
            message: message.into(),
            remedy: remedy.into(),
        });
    }

    pub(super) fn into_list(self) -> Vec<Finding> {
        self.list
    }
}
