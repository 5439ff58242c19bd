//! Whether a skill could be published.

use std::error::Error;
use std::fmt;

use crate::contract::check::{Severity, Violation, check_spec};
use crate::pipeline::Runnable;
use crate::registry::{RegistryProblem, Skill};

/// Why a skill could not be published.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum ContractError {
    /// The contract cannot be built.
    Unusable(Vec<RegistryProblem>),
    /// The contract breaks publication rules.
    Violations(Vec<Violation>),
}

impl fmt::Display for ContractError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = match self {
            Self::Unusable(problems) => problems.iter().map(ToString::to_string).collect(),
            Self::Violations(violations) => violations.iter().map(ToString::to_string).collect(),
        };
        f.write_str(&lines.join("\n"))
    }
}

impl Error for ContractError {}

/// Checks that a skill could be published: its contract keeps all publication rules and its schemas compile.
///
/// A permission that the platform does not list yet is not an error.
pub fn check_contract(skill: &'static Skill) -> Result<(), ContractError> {
    let runnable = Runnable::new(skill).map_err(ContractError::Unusable)?;
    let violations: Vec<_> = check_spec(runnable.described().document())
        .into_iter()
        .filter(|violation| violation.severity == Severity::Error)
        .collect();
    if violations.is_empty() {
        Ok(())
    } else {
        Err(ContractError::Violations(violations))
    }
}
