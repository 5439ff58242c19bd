//! Skills in a library of edition 2021 that denies all warnings.
//!
//! The test is that it compiles, also under clippy.

#![deny(
    warnings,
    missing_docs,
    future_incompatible,
    unused,
    clippy::all,
    clippy::pedantic
)]
// Pedantic lints about the author's own functions do not matter here.
#![allow(clippy::missing_errors_doc, clippy::must_use_candidate, clippy::unused_async)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::{skill, state, Environment, SkillContext, SkillError, SkillFailure};

/// Where to merge.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Merge {
    /// The branch.
    pub branch: String,
}

/// The result.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Merged {
    /// The branch.
    pub branch: String,
}

/// Merges a branch.
#[skill("edition.inputs", version = "1", side_effects = "none", risk = "low")]
pub async fn inputs(inputs: Merge, ctx: &SkillContext) -> Result<Merged, SkillError> {
    ctx.check_deadline()?;
    let branch = inputs.branch;
    Ok(Merged { branch })
}

/// Counts letters.
#[skill("edition.fields", version = "1", side_effects = "none", risk = "low")]
pub fn fields(
    /// The branch.
    branch: String,
    #[serde(default)] r#dyn: Option<Vec<u8>>,
) -> usize {
    branch.len() + r#dyn.map_or(0, |list| list.len())
}

/// The name is a keyword in edition 2024.
#[skill("edition.reserved", version = "1", side_effects = "none", risk = "low")]
pub async fn gen(gen: String) -> String {
    gen
}

/// The failures.
#[derive(Debug, SkillFailure)]
pub enum GitError {
    /// The branch does not exist.
    #[failure(code = "no_branch")]
    NoBranch,
    /// Another merge is running.
    #[failure(code = "busy", retryable)]
    Busy,
}

impl std::fmt::Display for GitError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoBranch => "no such branch",
            Self::Busy => "another merge is running",
        })
    }
}

impl std::error::Error for GitError {}

/// Always fails.
#[skill("edition.failure", version = "1", side_effects = "none", risk = "low")]
pub fn failure(busy: bool) -> Result<(), GitError> {
    Err(if busy { GitError::Busy } else { GitError::NoBranch })
}

/// A connection that all calls share.
#[derive(Debug)]
pub struct Client {
    /// The address.
    pub address: String,
}

#[state]
fn client(env: &Environment) -> Result<Client, SkillError> {
    match env.config("ADDRESS") {
        Some(address) => Ok(Client { address }),
        None => Err(SkillError::terminal("no_address", "`ADDRESS` is not set")),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn skills_are_registered() {
        let registry = skill_sdk::Registry::collect().unwrap();
        let found: Vec<&str> = registry.iter().map(skill_sdk::Skill::name).collect();
        assert_eq!(
            found,
            [
                "edition.failure",
                "edition.fields",
                "edition.inputs",
                "edition.reserved"
            ]
        );
        assert_eq!(super::gen::SKILL.reference(), "edition.reserved@1");
    }
}
