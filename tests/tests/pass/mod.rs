//! Right skills, each compiled, called and held against the contract that it should have.
//!
//! What needs a crate of its own (edition 2021, a renamed dependency, lints of a library) is in `../pass-crates`.

#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::unwrap_used,
    reason = "the skills here are about their signatures, and a test may panic"
)]

mod arguments;
mod beside;
mod docs;
mod hygiene;
mod names;
mod parameters;
mod scopes;
mod shapes;
mod strict;

use serde_json::Value;
use skill_sdk::{Skill, SkillError};

/// The outputs of one call.
fn call(skill: &'static Skill, inputs: Value) -> Result<Value, SkillError> {
    let invoked = skill_sdk::testing::invoke(skill, inputs).blocking()?;
    Ok(invoked.outputs)
}

/// The document of a skill that is right.
#[track_caller]
fn document(skill: &'static Skill) -> &'static Value {
    skill.described().unwrap().document()
}

/// The properties of the input object.
#[track_caller]
fn properties(skill: &'static Skill) -> &'static Value {
    &document(skill)["contract"]["inputs"]["properties"]
}
