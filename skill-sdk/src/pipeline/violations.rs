//! Inputs or outputs that are not valid, as the failure of a call.

use serde_json::json;

use crate::error::SkillError;
use crate::validation::{Invalid, Violation};

/// One side of a contract.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    name: &'static str,
    violated: &'static str,
    message: &'static str,
    too_complex: &'static str,
}

pub(super) const INPUTS: Side = Side {
    name: "inputs",
    violated: super::INPUT_CONTRACT_VIOLATION,
    message: "inputs do not match the skill's input schema",
    too_complex: "input_too_complex",
};

pub(super) const OUTPUTS: Side = Side {
    name: "outputs",
    violated: super::OUTPUT_CONTRACT_VIOLATION,
    message: "outputs do not match the skill's output schema",
    too_complex: "output_too_complex",
};

impl Side {
    /// The failure of a call whose inputs or outputs are not valid.
    pub(super) fn invalid(self, invalid: Invalid) -> SkillError {
        let name = self.name;
        match invalid {
            Invalid::Violations(mut violations) => {
                for Violation { message, .. } in violations.iter_mut().filter(|_| name == OUTPUTS.name) {
                    if message == "null is not of type \"number\"" {
                        message.push_str("; a number that is not finite (NaN, infinity) is written as null");
                    }
                }
                self.violations(&violations)
            }
            Invalid::NotJson { path, reason } => {
                self.violation(path, format!("{name} are not JSON: {reason}"))
            }
            // The caller knows what it sent; the author of the skill does not see what its type wrote.
            Invalid::NotAnObject(kind) if name == OUTPUTS.name => self.violation(
                "/".to_owned(),
                format!("outputs must be a JSON object, got {kind}"),
            ),
            Invalid::NotAnObject(_) => {
                self.violation("/".to_owned(), format!("{name} must be a JSON object"))
            }
            Invalid::TooComplex => {
                let message = format!("{name} would take too long to validate against the skill's schema");
                SkillError::terminal(self.too_complex, message)
            }
        }
    }

    /// The text of inputs or outputs.
    pub(super) fn text(self, json: Vec<u8>) -> Result<String, SkillError> {
        let not_text = |error| self.violation("/".to_owned(), format!("{} are not JSON: {error}", self.name));
        String::from_utf8(json).map_err(not_text)
    }

    /// The failure of a call with one violation.
    pub(super) fn violation(self, path: String, message: String) -> SkillError {
        self.violations(&[Violation::at(path, message)])
    }

    fn violations(self, violations: &[Violation]) -> SkillError {
        SkillError::terminal(self.violated, self.message).with_details(json!({"errors": violations}))
    }
}
