//! Skills in a library that renames the SDK and depends on neither serde nor schemars.
//!
//! The test is that it compiles, also under clippy.

#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
// Pedantic lints about the author's own functions do not matter here.
#![allow(clippy::missing_errors_doc, clippy::unused_async)]
#![no_implicit_prelude]

use ::std::option::Option;
use ::std::result::Result::{self, Err, Ok};
use ::std::string::String;
use ::std::{fmt, write};

use ::acme_sdk::{SkillContext, SkillError, SkillFailure, skill, state};

/// A crate of shared re-exports.
pub mod facade {
    pub use ::acme_sdk as inner;
}

/// Merges a branch.
#[skill("renamed.fields", version = "1", side_effects = "none", risk = "low", crate = ::acme_sdk)]
pub async fn fields(
    /// The branch.
    branch: String,
    #[serde(default)]
    #[schemars(range(max = 9))]
    depth: Option<u8>,
    ctx: &SkillContext,
) -> Result<String, SkillError> {
    ctx.check_deadline()?;
    match depth {
        Option::None => Ok(branch),
        Option::Some(_) => Err(SkillError::terminal("too_deep", "no depth is allowed")),
    }
}

/// Does nothing.
#[skill("renamed.facade", version = "1", side_effects = "none", risk = "low", crate = crate::facade::inner)]
pub fn nothing() {}

/// No such branch.
#[derive(::std::fmt::Debug, SkillFailure)]
#[failure(code = "no_branch", crate = ::acme_sdk)]
pub struct NoBranch;

impl fmt::Display for NoBranch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no such branch")
    }
}

impl ::std::error::Error for NoBranch {}

/// Always fails.
#[skill("renamed.failure", version = "1", side_effects = "none", risk = "low", crate = ::acme_sdk)]
pub fn failure() -> Result<(), NoBranch> {
    Err(NoBranch)
}

#[state(crate = ::acme_sdk)]
fn client() -> String {
    String::new()
}

#[cfg(test)]
mod tests {
    use ::std::assert_eq;
    use ::std::prelude::v1::*;

    #[test]
    fn skills_are_registered() {
        let registry = ::acme_sdk::Registry::collect().unwrap();
        let found: Vec<&str> = registry.iter().map(::acme_sdk::Skill::name).collect();
        assert_eq!(found, ["renamed.facade", "renamed.failure", "renamed.fields"]);
    }
}
