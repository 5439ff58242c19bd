//! What is reported when a rule is broken.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

/// The codes of the publication rules. They are stable: programs may compare them.
pub mod code {
    /// A member of the contract or of its policy breaks a rule.
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
    /// Publication refuses the contract.
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
    /// JSON pointer into the checked document; empty for the document itself. It may name a member that is missing.
    pub pointer: String,
    field: Cow<'static, str>,
    /// What is wrong and what to do.
    pub message: String,
    /// Whether publication refuses the contract for it.
    pub severity: Severity,
}

impl Violation {
    /// The field in the platform's dotted notation, `retryPolicy.maxAttempts`.
    ///
    /// It is coarser than [`pointer`](Self::pointer): everything inside a schema is `inputs` or `outputs`, what
    /// concerns the contract as a whole is `contract`, and it is always relative to the contract.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Whether publication refuses the contract.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Whether a skill with this violation may not even run: every error except
    /// [`code::UNSUPPORTED_SKILL_CONDITION`]. Conditions may be declared in code long before a platform accepts them,
    /// so a registry keeps such a skill and only publication refuses it.
    pub fn is_blocking(&self) -> bool {
        self.is_error() && self.code != code::UNSUPPORTED_SKILL_CONDITION
    }

    pub(super) fn error(
        code: &'static str,
        pointer: impl Into<String>,
        field: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            pointer: pointer.into(),
            field: field.into(),
            message: message.into(),
            severity: Severity::Error,
        }
    }

    /// An error of the most common code.
    pub(super) fn invalid(
        pointer: impl Into<String>,
        field: impl Into<Cow<'static, str>>,
        message: impl Into<String>,
    ) -> Self {
        Self::error(code::INVALID_SKILL_CONTRACT, pointer, field, message)
    }

    pub(super) fn into_warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
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
