//! The skills of a program: what each declares, and how they are found.

mod collect;
mod declaration;
mod problem;
mod skill;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

#[doc(hidden)]
pub use self::collect::Registration;
pub use self::declaration::{Declaration, DeclaredImplementation};
#[doc(hidden)]
pub use self::declaration::{json_text, json_value};
pub use self::problem::{RegistryError, RegistryProblem};
pub use self::skill::{Skill, SkillDescription};
use crate::context::{StateDeclaration, States};
use crate::contract::compare_versions;

/// The skills of a program, checked, sorted by name and version.
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
    skills: BTreeMap<(String, VersionKey), &'static Skill>,
    by_reference: BTreeMap<String, &'static Skill>,
    states: Arc<States>,
    warnings: Vec<RegistryProblem>,
}

impl Registry {
    /// All skills that are linked into the program.
    ///
    /// Fails with all that is wrong with them at once.
    pub fn collect() -> Result<Self, RegistryError> {
        let registered = collect::registered();
        Self::build(registered.skills, &registered.states)
    }

    /// The skills with these refs (`name@version`) that are linked into the program; those of which there are none are left
    /// out, and of all others nothing is derived.
    #[cfg(feature = "runtime")]
    pub(crate) fn collect_only<R: AsRef<str>>(references: &[R]) -> Result<Self, RegistryError> {
        let registered = collect::registered();
        let mut skills = registered.skills;
        skills.retain(|skill| {
            let mut asked = references.iter().map(AsRef::as_ref);
            asked.any(|reference| reference == skill.reference())
        });
        Self::build(skills, &registered.states)
    }

    /// The refs of the skills that are linked into the program, whether they are sound or not.
    #[cfg(feature = "runtime")]
    pub(crate) fn references() -> Vec<&'static str> {
        let mut skills = collect::registered().skills;
        skills.sort_by_key(|skill| (skill.name(), VersionKey::new(skill.version())));
        let mut references: Vec<_> = skills.into_iter().map(Skill::reference).collect();
        references.dedup();
        references
    }

    /// The skills that are linked into the program and are sound by themselves, whatever is wrong with others.
    pub(crate) fn sound() -> Vec<&'static Skill> {
        let mut skills = collect::registered().skills;
        skills.retain(|skill| skill.described().is_ok());
        skills.sort_by_key(|skill| (skill.name(), VersionKey::new(skill.version())));
        skills
    }

    /// The shared values that are linked into the program, none of them built yet.
    #[cfg(feature = "testing")]
    pub(crate) fn declared_states() -> States {
        States::new(collect::registered().states)
    }

    /// The skills given, with the states that are linked into the program.
    pub fn from_skills(skills: impl IntoIterator<Item = &'static Skill>) -> Result<Self, RegistryError> {
        Self::build(skills.into_iter().collect(), &collect::registered().states)
    }

    fn build(
        skills: Vec<&'static Skill>,
        states: &[&'static StateDeclaration],
    ) -> Result<Self, RegistryError> {
        let mut problems = Vec::new();
        let mut warnings = Vec::new();
        let mut by_reference: BTreeMap<String, &'static Skill> = BTreeMap::new();
        for skill in skills {
            if let Some(other) = by_reference.insert(skill.reference().to_owned(), skill) {
                if other.declaration().origin() != skill.declaration().origin() {
                    problems.push(RegistryProblem::duplicate_skill(other, skill));
                }
                continue;
            }
            match skill.described() {
                Ok(described) => warnings.extend(described.warnings().iter().cloned()),
                Err(found) => problems.extend(found.iter().cloned()),
            }
        }
        problems.extend(duplicate_states(states));
        if !problems.is_empty() {
            return Err(RegistryError::new(problems));
        }
        let skills = by_reference
            .values()
            .map(|skill| {
                (
                    (skill.name().to_owned(), VersionKey::new(skill.version())),
                    *skill,
                )
            })
            .collect();
        let states = Arc::new(States::new(states.iter().copied()));
        Ok(Self {
            skills,
            by_reference,
            states,
            warnings,
        })
    }

    /// The skill `name@version`.
    pub fn get(&self, reference: &str) -> Option<&'static Skill> {
        self.by_reference.get(reference).copied()
    }

    /// All skills, by name and version; `10` is newer than `9`.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &'static Skill> {
        self.skills.values().copied()
    }

    /// How many skills there are.
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// What is not wrong, but may be: a permission that the platform does not list yet, a condition that it does not
    /// accept yet.
    pub fn warnings(&self) -> &[RegistryProblem] {
        &self.warnings
    }

    /// The shared values of the program.
    pub fn states(&self) -> &Arc<States> {
        &self.states
    }
}

/// A version in the order of [`compare_versions`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VersionKey(String);

impl VersionKey {
    pub(crate) fn new(version: &str) -> Self {
        Self(version.to_owned())
    }
}

impl Ord for VersionKey {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_versions(&self.0, &other.0)
    }
}

impl PartialOrd for VersionKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
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

#[cfg(test)]
mod tests {
    use super::VersionKey;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let sorted = [
            // A number is newer than a text.
            "a",
            "1",
            "1.0-beta",
            "1.0",
            "1.9",
            "1.10",
            "2",
            "10",
            "010",
            "99999999999999999999999",
        ];
        for pair in sorted.windows(2) {
            if pair == ["10", "010"] {
                continue;
            }
            assert!(VersionKey::new(pair[0]) < VersionKey::new(pair[1]), "{pair:?}");
        }
        assert_ne!(VersionKey::new("1"), VersionKey::new("01"));
    }
}
