//! Problems that make a set of skills unusable.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Skill;
use crate::context::StateDeclaration;

/// One problem of a skill or of a set of skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryProblem {
    /// A stable code: `duplicate_skill`, `duplicate_state`, `invalid_examples`, `invalid_json_schema`, or one of the
    /// publication rules.
    pub code: String,
    /// The skill, `name@version`, if the problem belongs to one.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// A JSON pointer into the spec, if the problem has a place there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Where the skill was declared: `package version, file:line:column`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The problem and its remedy.
    pub message: String,
}

impl RegistryProblem {
    /// Creates a problem of one skill.
    pub(super) fn of(skill: &Skill, code: &str, pointer: Option<String>, message: String) -> Self {
        Self {
            code: code.to_owned(),
            reference: Some(skill.reference().to_owned()),
            pointer,
            origin: Some(skill.declaration().origin.to_string()),
            message,
        }
    }

    /// A schema of a skill cannot be compiled.
    #[cfg(feature = "runtime")]
    pub(crate) fn invalid_schema(skill: &Skill, side: &str, why: &str) -> Self {
        let message = format!("the schema cannot be used: {why}");
        Self::of(
            skill,
            "invalid_json_schema",
            Some(format!("/contract/{side}")),
            message,
        )
    }

    pub(crate) fn duplicate_skill(first: &Skill, second: &Skill) -> Self {
        let (first_at, second_at) = (first.declaration().origin, second.declaration().origin);
        Self::of(
            second,
            "duplicate_skill",
            None,
            format!(
                "declared twice: `{}` ({first_at}) and `{}` ({second_at}); give one of them another version",
                first_at.entrypoint(),
                second_at.entrypoint(),
            ),
        )
    }

    pub(super) fn duplicate_state(first: &StateDeclaration, second: &StateDeclaration) -> Self {
        Self {
            code: "duplicate_state".to_owned(),
            reference: None,
            pointer: None,
            origin: Some(second.origin().to_string()),
            message: format!(
                "two functions build the state `{}`: `{}` ({}) and `{}` ({}); wrap one of them in a type of its own",
                first.type_name(),
                first.origin().path(),
                first.origin(),
                second.origin().path(),
                second.origin(),
            ),
        }
    }
}

impl fmt::Display for RegistryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(reference) = &self.reference {
            write!(f, "{reference}: ")?;
        }
        if let Some(pointer) = self.pointer.as_deref().filter(|pointer| !pointer.is_empty()) {
            write!(f, "{pointer}: ")?;
        }
        write!(f, "{} [{}]", self.message, self.code)?;
        if let Some(origin) = &self.origin {
            write!(f, "\n  at {origin}")?;
        }
        Ok(())
    }
}

/// All problems of a set of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryError(Vec<RegistryProblem>);

impl RegistryError {
    pub(super) fn new(problems: Vec<RegistryProblem>) -> Self {
        Self(problems)
    }

    /// The problems; never empty.
    pub fn problems(&self) -> &[RegistryProblem] {
        &self.0
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl Error for RegistryError {}
