//! What is known of a rule.

use crate::contract::check::Severity;

/// When a rule holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// For every tool.
    Always,
    /// For a tool that is sent with `strict: true`: the provider then guarantees arguments that fit the schema.
    Strict,
    /// For a tool whose schema is sent in the older, `OpenAPI` form of the provider.
    OpenApi,
}

/// A rule of a provider.
#[derive(Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Rule {
    /// `provider.rule`. Stable: programs may compare it.
    pub id: &'static str,
    /// When it holds.
    pub mode: Mode,
    /// An error when the provider refuses the request; a warning when a client can get around it, when the provider only
    /// ignores a part of the schema, or when the rule holds in one [`Mode`] only.
    pub severity: Severity,
    /// The rule, in one sentence.
    pub summary: &'static str,
    /// What an author or a client does about it.
    pub remedy: &'static str,
    /// Where the rule is known from.
    pub source: &'static str,
}
