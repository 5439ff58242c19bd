//! Valid skills. Each is compiled, called and compared with its expected contract.
//!
//! Cases that need a crate of their own (edition 2021, a renamed dependency, lints of a library) are in `../pass-crates`.

#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::unwrap_used,
    reason = "the signatures of the skills are part of the tests, and a test may panic"
)]

mod arguments;
mod descriptions;
mod hygiene;
mod lints;
mod names;
mod other_attributes;
mod parameters;
mod scopes;
mod signatures;

use serde_json::Value;
use skill_sdk::{Skill, SkillError};

/// The outputs of one call.
fn call(skill: &'static Skill, inputs: Value) -> Result<Value, SkillError> {
    let invoked = skill_sdk::testing::invoke(skill, inputs).blocking()?;
    Ok(invoked.outputs)
}

/// The contract document of a valid skill.
#[track_caller]
fn document(skill: &'static Skill) -> &'static Value {
    skill.described().unwrap().document()
}

/// The properties of the input object.
#[track_caller]
fn properties(skill: &'static Skill) -> &'static Value {
    &document(skill)["contract"]["inputs"]["properties"]
}
