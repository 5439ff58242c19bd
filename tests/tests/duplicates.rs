//! Two declarations of one thing in one program.

#![allow(clippy::unwrap_used, reason = "a panic of a test program is a failed test")]
#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "skills have the shape that is tested"
)]

use skill_sdk::context::States;
use skill_sdk::pipeline::{SkillSet, SkillSetError};
use skill_sdk::{Registry, RegistryProblem, skill, state};

/// The first of its name.
#[skill("twice.declared", version = "1", side_effects = "none", risk = "low")]
fn first() {}

mod other {
    /// The second of its name.
    #[skill_sdk::skill("twice.declared", version = "1", side_effects = "none", risk = "low")]
    pub(super) fn second() {}
}

/// Another version of that name, which is fine.
#[skill("twice.declared", version = "2", side_effects = "none", risk = "low")]
fn third() {}

/// What two functions build.
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

/// Both places are in the message: the Rust path, and file, line and column.
fn tells_both(problem: &RegistryProblem, paths: [&str; 2]) {
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
fn all_duplicates_are_told_together_with_their_places() {
    let error = Registry::collect().unwrap_err();
    assert_eq!(error.problems().len(), 2, "{error}");
    let skills = of_code(error.problems(), "duplicate_skill");
    assert_eq!(skills.reference.as_deref(), Some("twice.declared@1"));
    tells_both(skills, ["duplicates:first", "duplicates.other:second"]);
    tells_both(
        of_code(error.problems(), "duplicate_state"),
        ["duplicates::pool", "duplicates::other_pool"],
    );
    assert!(matches!(SkillSet::collect(), Err(SkillSetError::Skills(problems)) if problems.len() == 2));
}

#[test]
fn a_host_of_chosen_skills_refuses_them_too() {
    let host = |skills: &[&'static skill_sdk::Skill]| {
        SkillSet::with_states(skills.iter().copied(), States::default())
    };
    let Err(SkillSetError::Skills(problems)) = host(&[first::SKILL, other::second::SKILL]) else {
        unreachable!("two skills of one ref are refused")
    };
    tells_both(
        of_code(&problems, "duplicate_skill"),
        ["duplicates:first", "duplicates.other:second"],
    );
    // One skill that is named twice is one, and two versions of a name are two.
    assert_eq!(
        host(&[first::SKILL, first::SKILL, third::SKILL])
            .unwrap()
            .iter()
            .len(),
        2
    );
}
