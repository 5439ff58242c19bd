//! Duplicate declarations in one program.

#![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]
#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "the signatures of the skills are part of the tests"
)]

use skill_sdk::context::States;
use skill_sdk::pipeline::{SkillSet, SkillSetError};
use skill_sdk::{Registry, RegistryProblem, skill, state};

/// The first skill of this ref.
#[skill("twice.declared", version = "1", side_effects = "none", risk = "low")]
fn first() {}

mod other {
    /// The second skill of this ref.
    #[skill_sdk::skill("twice.declared", version = "1", side_effects = "none", risk = "low")]
    pub(super) fn second() {}
}

/// Another version of the same name, which is allowed.
#[skill("twice.declared", version = "2", side_effects = "none", risk = "low")]
fn third() {}

/// A state that two functions build.
struct Pool;

#[state]
fn pool() -> Pool {
    Pool
}

#[state]
async fn other_pool() -> Pool {
    Pool
}

fn of_code<'a>(problems: &'a [RegistryProblem], code: &str) -> &'a RegistryProblem {
    let mut found = problems.iter().filter(|problem| problem.code == code);
    let problem = found.next().unwrap();
    assert_eq!(found.next(), None, "it is told once");
    problem
}

/// The message contains both places: the Rust path, and file, line and column.
fn assert_names_both_places(problem: &RegistryProblem, paths: [&str; 2]) {
    for path in paths {
        assert!(
            problem.message.contains(&format!("`{path}`")),
            "{path} is missing: {problem}"
        );
    }
    let places: Vec<_> = problem.message.match_indices("duplicates.rs:").collect();
    assert_eq!(places.len(), 2, "{problem}");
}

#[test]
fn all_duplicates_are_reported_with_their_places() {
    let error = Registry::collect().unwrap_err();
    assert_eq!(error.problems().len(), 2, "{error}");
    let skills = of_code(error.problems(), "duplicate_skill");
    assert_eq!(skills.reference.as_deref(), Some("twice.declared@1"));
    assert_names_both_places(skills, ["duplicates:first", "duplicates.other:second"]);
    assert_names_both_places(
        of_code(error.problems(), "duplicate_state"),
        ["duplicates::pool", "duplicates::other_pool"],
    );
    assert!(matches!(SkillSet::collect(), Err(SkillSetError::Skills(problems)) if problems.len() == 2));
}

#[test]
fn from_skills_rejects_duplicates() {
    let host = |skills: &[&'static skill_sdk::Skill]| {
        SkillSet::with_states(skills.iter().copied(), States::default())
    };
    let Err(SkillSetError::Skills(problems)) = host(&[first::SKILL, other::second::SKILL]) else {
        unreachable!("two skills with one ref are rejected")
    };
    assert_names_both_places(
        of_code(&problems, "duplicate_skill"),
        ["duplicates:first", "duplicates.other:second"],
    );
    // The same skill given twice counts once, and two versions of a name are not duplicates.
    assert_eq!(
        host(&[first::SKILL, first::SKILL, third::SKILL])
            .unwrap()
            .iter()
            .len(),
        2
    );
}
