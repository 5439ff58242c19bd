//! Whether a skill can be published.

use crate::contract::{Stage, Violation, validate_spec};
use crate::pipeline::Runnable;
use crate::registry::Skill;

/// Asserts that a skill can be published: its contract follows all publication rules and its schemas compile.
///
/// Permissions that the platform does not list yet are allowed.
///
/// # Panics
/// If the contract is not valid, with all violations.
#[track_caller]
pub fn assert_valid_contract(skill: &'static Skill) {
    let violations = match Runnable::new(skill) {
        Ok(runnable) => {
            let found = validate_spec(runnable.described().document(), Stage::Source);
            let errors = found.iter().filter(|violation| violation.is_error());
            errors.map(Violation::to_string).collect::<Vec<_>>()
        }
        Err(problems) => problems.iter().map(ToString::to_string).collect(),
    };
    assert!(
        violations.is_empty(),
        "the contract of {} is not valid:\n{}",
        skill.reference(),
        violations.join("\n")
    );
}
