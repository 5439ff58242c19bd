//! Violations of the rules.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::text::{child, kind, quoted};

/// The codes of the publication rules. They are stable: programs may compare them.
pub mod code {
    /// A field of the contract or of its policy breaks a rule.
    pub const INVALID_SKILL_CONTRACT: &str = "invalid_skill_contract";
    /// Conditions are declared, and publication has no expression language for them yet.
    pub const UNSUPPORTED_SKILL_CONDITION: &str = "unsupported_skill_condition";
    /// The contract holds, or seems to hold, a secret.
    pub const SECRET_MATERIAL_REJECTED: &str = "secret_material_rejected";
    /// `inputs` or `outputs` is not a JSON Schema, or refers to another document.
    pub const INVALID_JSON_SCHEMA: &str = "invalid_json_schema";
    /// The contract has too many bytes.
    pub const PAYLOAD_TOO_LARGE: &str = "payload_too_large";
    /// The contract is nested too deeply.
    pub const PAYLOAD_TOO_DEEP: &str = "payload_too_deep";
    /// An input is marked with `x-mcp-header` where or how it cannot be. Publication knows nothing of it; clients of MCP do.
    pub const INVALID_MCP_HEADER: &str = "invalid_mcp_header";
    /// The contract has too many values.
    pub const INVALID_DOCUMENT: &str = "invalid_document";
}

/// How bad a [`Violation`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Publication rejects the contract.
    Error,
    /// Publication may accept the contract, yet something in it is probably a mistake.
    Warning,
}

/// One broken rule, with its place in the checked document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Violation {
    /// A stable code out of [`code`].
    pub code: &'static str,
    /// JSON pointer into the checked document; empty for the document itself. It may name a field that is missing.
    pub pointer: String,
    /// The field in the platform's dotted notation, `retryPolicy.maxAttempts`.
    ///
    /// It is coarser than [`pointer`](Self::pointer): everything inside a schema is `inputs` or `outputs`, what
    /// concerns the contract as a whole is `contract`, and it is always relative to the contract.
    pub field: &'static str,
    /// The problem, and what to do.
    pub message: String,
    /// Whether publication rejects the contract.
    pub severity: Severity,
}

impl Violation {
    /// Whether publication rejects the contract.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Whether a skill with this violation may not even run: every error except
    /// [`code::UNSUPPORTED_SKILL_CONDITION`]. Conditions may be declared in code long before a platform accepts them,
    /// so a registry keeps such a skill and only publication rejects it.
    pub fn is_blocking(&self) -> bool {
        self.is_error() && self.code != code::UNSUPPORTED_SKILL_CONDITION
    }

    pub(super) fn warning(
        pointer: impl Into<String>,
        field: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code: code::INVALID_SKILL_CONTRACT,
            pointer: pointer.into(),
            field,
            message: message.into(),
            severity: Severity::Warning,
        }
    }

    pub(super) fn error(
        code: &'static str,
        pointer: impl Into<String>,
        field: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity: Severity::Error,
            ..Self::warning(pointer, field, message)
        }
    }

    /// Moves the violation from a document to the one around it.
    pub(super) fn under(mut self, prefix: &str) -> Self {
        self.pointer.insert_str(0, prefix);
        self
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.severity == Severity::Warning {
            f.write_str("warning: ")?;
        }
        if !self.pointer.is_empty() {
            write!(f, "{}: ", self.pointer)?;
        }
        write!(f, "{} ({})", self.message, self.code)
    }
}

/// The violations of a document, in the order in which the platform looks.
#[derive(Default)]
pub(super) struct Found(pub(super) Vec<Violation>);

impl Found {
    /// An error of the most common code.
    pub(super) fn invalid(
        &mut self,
        pointer: impl Into<String>,
        field: &'static str,
        message: impl Into<String>,
    ) {
        let error = Violation::error(code::INVALID_SKILL_CONTRACT, pointer, field, message);
        self.0.push(error);
    }

    /// An error of the most common code at the place that `field` names.
    pub(super) fn invalid_field(&mut self, field: &'static str, message: impl Into<String>) {
        self.invalid(pointer_of(field), field, message);
    }

    /// Reports a broken rule for the value of `field`.
    pub(super) fn rule(&mut self, rule: Result<(), String>, field: &'static str) {
        if let Err(reason) = rule {
            self.invalid_field(field, reason);
        }
    }

    /// The fields of the value of `field`, which must be an object.
    pub(super) fn object<'a>(
        &mut self,
        value: &'a Value,
        field: &'static str,
    ) -> Option<&'a Map<String, Value>> {
        if !value.is_object() {
            self.invalid_field(field, format!("`{field}` must be an object, not {}", kind(value)));
        }
        value.as_object()
    }

    /// The items of the value of `field`, which must be an array.
    pub(super) fn array<'a>(&mut self, value: &'a Value, field: &'static str) -> Option<&'a Vec<Value>> {
        if !value.is_array() {
            self.invalid_field(field, format!("`{field}` must be an array, not {}", kind(value)));
        }
        value.as_array()
    }

    /// Reports every field of the object `field` that is not in `known`, in alphabetical order.
    pub(super) fn unknown_keys(&mut self, object: &Map<String, Value>, known: &[&str], field: &'static str) {
        let mut unknown: Vec<&str> = object.keys().map(String::as_str).collect();
        unknown.retain(|key| !known.contains(key));
        unknown.sort_unstable();
        for key in unknown {
            let message = format!("unknown field {}: known are {}", quoted(key), known.join(", "));
            self.invalid(child(&pointer_of(field), key), field, message);
        }
    }
}

/// The JSON pointer to a field in the platform's dotted notation.
pub(super) fn pointer_of(field: &str) -> String {
    match field {
        "contract" | "spec" => String::new(),
        field => format!("/{}", field.replace('.', "/")),
    }
}
