//! The skills of a program: their declarations, and how they are found.

mod collect;
mod declaration;
mod problem;
mod skill;

use std::sync::Arc;

pub use self::collect::Registration;
pub use self::declaration::{Declaration, auth, http, json_text, json_value};
pub use self::problem::{RegistryError, RegistryProblem};
pub use self::skill::{Skill, SkillDescription};
use crate::context::{StateDeclaration, States};
use crate::contract::compare_versions;

/// The skills of a program, validated and sorted by name and version.
///
/// ```standalone_crate
/// use skill_sdk::{Registry, skill};
///
/// /// Says hello.
/// #[skill("hello.say", version = "1", side_effects = "none", risk = "low")]
/// fn say(name: String) -> String {
///     format!("Hello, {name}!")
/// }
///
/// let registry = Registry::collect().unwrap();
/// assert_eq!(registry.get("hello.say@1").unwrap().name(), "hello.say");
/// ```
#[derive(Debug)]
pub struct Registry {
    skills: Vec<&'static Skill>,
    #[cfg_attr(
        not(feature = "runtime"),
        expect(dead_code, reason = "only a call needs them")
    )]
    states: Arc<States>,
}

impl Registry {
    /// All skills that are linked into the program.
    ///
    /// # Errors
    ///
    /// All problems of all skills and shared values, such as two skills with one ref or an invalid contract.
    pub fn collect() -> Result<Self, RegistryError> {
        let (skills, states) = collect::registered();
        Self::build(skills, &states)
    }

    /// The linked skills with these refs (`name@version`). Unknown refs are ignored. Nothing is derived for other skills.
    #[cfg(feature = "runtime")]
    pub(crate) fn collect_only<R: AsRef<str>>(references: &[R]) -> Result<Self, RegistryError> {
        let (mut skills, states) = collect::registered();
        skills.retain(|skill| references.iter().any(|one| one.as_ref() == skill.reference()));
        Self::build(skills, &states)
    }

    /// The refs of all linked skills, valid or not.
    #[cfg(feature = "runtime")]
    pub(crate) fn references() -> Vec<&'static str> {
        let mut references: Vec<_> = linked().into_iter().map(Skill::reference).collect();
        references.dedup();
        references
    }

    /// The linked skills that are valid by themselves. Problems of other skills are ignored.
    pub(crate) fn sound() -> impl Iterator<Item = (&'static Skill, &'static SkillDescription)> {
        linked()
            .into_iter()
            .filter_map(|skill| Some((skill, skill.described().ok()?)))
    }

    /// The states that are linked into the program. None of them is built yet.
    #[cfg(feature = "testing")]
    pub(crate) fn declared_states() -> States {
        States::new(collect::registered().1)
    }

    /// These skills, with the states that are linked into the program.
    ///
    /// # Errors
    ///
    /// Those of [`collect`](Self::collect), for these skills.
    pub fn from_skills(skills: impl IntoIterator<Item = &'static Skill>) -> Result<Self, RegistryError> {
        Self::build(skills.into_iter().collect(), &collect::registered().1)
    }

    fn build(
        mut skills: Vec<&'static Skill>,
        states: &[&'static StateDeclaration],
    ) -> Result<Self, RegistryError> {
        sort(&mut skills);
        let mut problems = Vec::new();
        skills.dedup_by(|second, first| {
            let is_same = second.reference() == first.reference();
            if is_same && second.declaration().origin != first.declaration().origin {
                problems.push(RegistryProblem::duplicate_skill(first, second));
            }
            is_same
        });
        let unsound = skills.iter().filter_map(|skill| skill.described().err());
        problems.extend(unsound.flatten().cloned());
        problems.extend(duplicate_states(states));
        if !problems.is_empty() {
            return Err(RegistryError::new(problems));
        }
        let states = Arc::new(States::new(states.iter().copied()));
        Ok(Self { skills, states })
    }

    /// The skill `name@version`.
    pub fn get(&self, reference: &str) -> Option<&'static Skill> {
        self.iter().find(|skill| skill.reference() == reference)
    }

    /// All skills, sorted by name and version; version `10` sorts after `9`.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'static Skill> {
        self.skills.iter().copied()
    }

    /// The states of the program.
    #[cfg(feature = "runtime")]
    pub(crate) fn states(&self) -> &Arc<States> {
        &self.states
    }
}

/// The linked skills, sorted by name and version.
fn linked() -> Vec<&'static Skill> {
    let mut skills = collect::registered().0;
    sort(&mut skills);
    skills
}

/// Sorts by name and version. The sort is stable for skills with the same ref.
fn sort(skills: &mut [&'static Skill]) {
    skills.sort_by(|a, b| {
        let by_name = a.name().cmp(b.name());
        by_name.then_with(|| compare_versions(a.version(), b.version()))
    });
}

fn duplicate_states(states: &[&'static StateDeclaration]) -> Vec<RegistryProblem> {
    let mut problems = Vec::new();
    for (index, state) in states.iter().enumerate() {
        for other in &states[..index] {
            if other.type_id() == state.type_id() && other.origin() != state.origin() {
                problems.push(RegistryProblem::duplicate_state(other, state));
            }
        }
    }
    problems
}
