//! Violations of the contract as the failure of a call: limited in number and length.

use serde_json::json;

use super::{INPUT_CONTRACT_VIOLATION, OUTPUT_CONTRACT_VIOLATION};
use crate::error::SkillError;
pub(super) use crate::validation::{Violation, check};

/// How many violations are reported.
const MAX_VIOLATIONS: usize = 20;

/// The longest message, in characters.
const MAX_MESSAGE: usize = 500;

/// The failure of a call whose inputs break the contract.
pub(super) fn of_inputs(violations: Vec<Violation>) -> SkillError {
    failure(
        INPUT_CONTRACT_VIOLATION,
        "inputs do not match the skill's input schema",
        violations,
    )
}

/// The failure of a call whose outputs break the contract.
pub(super) fn of_outputs(violations: Vec<Violation>) -> SkillError {
    failure(
        OUTPUT_CONTRACT_VIOLATION,
        "outputs do not match the skill's output schema",
        violations,
    )
}

fn failure(code: &'static str, message: &'static str, mut violations: Vec<Violation>) -> SkillError {
    violations.truncate(MAX_VIOLATIONS);
    for violation in &mut violations {
        if let Some((end, _)) = violation.message.char_indices().nth(MAX_MESSAGE) {
            violation.message.truncate(end);
        }
    }
    SkillError::terminal(code, message).with_details(json!({"errors": violations}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_lists_are_cut() {
        let violations = vec![Violation::root("я".repeat(501)); 21];
        let error = of_outputs(violations);
        let errors = error.details().unwrap()["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 20);
        assert_eq!(errors[0]["message"].as_str().unwrap().chars().count(), 500);
    }
}
