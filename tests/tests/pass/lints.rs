//! The strictest lints find nothing in the code that the macros generate. `../pass-crates` covers the lints of a library.

#![deny(
    warnings,
    missing_docs,
    nonstandard_style,
    rust_2018_idioms,
    unused,
    trivial_casts,
    trivial_numeric_casts,
    unreachable_pub,
    unused_lifetimes,
    unused_qualifications,
    single_use_lifetimes,
    missing_debug_implementations,
    clippy::all,
    clippy::pedantic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::std_instead_of_core,
    reason = "a user may deny any of them"
)]
#![allow(
    clippy::unused_async,
    reason = "pedantic lints about the author's own functions do not matter here"
)]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::{SkillContext, SkillError, SkillFailure, skill, state};

/// Where to merge.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct Merge {
    branch: String,
}

/// The result of a merge.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Merged {
    branch: String,
}

/// Merges.
#[skill("strict.asynchronous", version = "1", side_effects = "none", risk = "low")]
pub(super) async fn asynchronous(inputs: Merge, ctx: &SkillContext) -> Result<Merged, SkillError> {
    ctx.check_deadline()?;
    Ok(Merged {
        branch: inputs.branch,
    })
}

/// Merges, and only reads its inputs.
#[skill("strict.blocking", version = "1", side_effects = "none", risk = "low")]
pub(super) fn blocking(inputs: Merge) -> usize {
    inputs.branch.len()
}

/// Counts.
#[skill("strict.fields", version = "1", side_effects = "none", risk = "low")]
pub(super) fn fields(
    /// The branch.
    branch: String,
    #[serde(default)] deep: Option<bool>,
    ctx: SkillContext,
) -> usize {
    branch.len() + usize::from(deep == Some(true)) + ctx.skill().len()
}

/// Does nothing.
#[skill("strict.nothing", version = "1", side_effects = "none", risk = "low")]
pub(super) async fn nothing() {}

/// Fails.
#[derive(Debug, SkillFailure)]
pub(super) enum Lost {
    /// For ever.
    #[failure(code = "lost")]
    Branch {
        /// Which.
        name: String,
    },
    /// For now.
    #[failure(code = "busy", retryable)]
    Busy(u8),
}

impl core::fmt::Display for Lost {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Branch { name } => f.write_str(name),
            Self::Busy(seconds) => write!(f, "{seconds}"),
        }
    }
}

impl core::error::Error for Lost {}

/// Fails.
#[skill("strict.failing", version = "1", side_effects = "none", risk = "low")]
pub(super) fn failing(busy: bool) -> Result<(), Lost> {
    if busy {
        return Err(Lost::Busy(1));
    }
    Err(Lost::Branch { name: String::new() })
}

/// Shared by all calls.
#[derive(Debug)]
pub(super) struct Pool;

#[state]
fn pool() -> Pool {
    Pool
}

#[test]
fn expansion_is_free_of_lint_warnings() {
    let skills = [
        asynchronous::SKILL,
        blocking::SKILL,
        fields::SKILL,
        nothing::SKILL,
        failing::SKILL,
    ];
    assert!(skills.iter().all(|skill| skill.described().is_ok()));
}
