//! A rule of a provider, and what is reported when a tool breaks it.

use std::fmt;

use serde::Serialize;
use skill_sdk::contract::Severity;

use super::refs::Reference;
use super::tree::{Node, Tree};

/// What a rule looks at, and how it tells what is wrong there.
#[derive(Debug)]
pub(super) enum Check {
    /// The name.
    Name(fn(&str) -> Option<String>),
    /// The description.
    Description(fn(&str) -> Option<String>),
    /// Each schema that describes values.
    Schema(fn(&Node<'_>) -> Option<String>),
    /// Each `$ref`.
    Reference(fn(&Reference<'_>) -> Option<String>),
    /// The schema as a whole; gives the indexes of schemas with what is wrong there.
    Whole(fn(&Tree<'_>) -> Vec<(usize, String)>),
}

/// A rule of a provider; `docs/reference/provider-rules.md` says it in a sentence, and where it is known from.
#[derive(Debug)]
pub(crate) struct Rule {
    /// `provider.rule`, and `provider.MODE_rule` when it holds in one mode only. Stable: programs may compare it.
    pub(crate) id: &'static str,
    /// An error when the provider rejects the request; a warning when a client can get around it, when the provider only
    /// ignores a part of the schema, or when the rule holds in one mode only.
    pub(crate) severity: Severity,
    /// What an author or a client does about it.
    pub(crate) remedy: &'static str,
    pub(super) check: Check,
}

impl Rule {
    pub(super) fn finding(&self, pointer: impl Into<String>, message: String) -> Finding {
        Finding {
            rule: self.id,
            severity: self.severity,
            pointer: pointer.into(),
            message,
            remedy: self.remedy.to_owned(),
        }
    }
}

/// The provider rejects the tool, whatever a client does.
pub(super) const fn error(id: &'static str, remedy: &'static str, check: Check) -> Rule {
    Rule {
        id,
        severity: Severity::Error,
        remedy,
        check,
    }
}

/// A client can get around it.
pub(super) const fn warning(id: &'static str, remedy: &'static str, check: Check) -> Rule {
    Rule {
        id,
        severity: Severity::Warning,
        remedy,
        check,
    }
}

/// One rule of a provider that a tool breaks, with its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The id of the [`Rule`].
    pub(crate) rule: &'static str,
    /// The severity of the rule.
    pub(crate) severity: Severity,
    /// JSON pointer into the tool `{"name", "description", "inputs"}`.
    pub(crate) pointer: String,
    /// The problem.
    pub(crate) message: String,
    /// What to do.
    pub(crate) remedy: String,
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
