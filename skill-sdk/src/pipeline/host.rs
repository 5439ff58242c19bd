//! The skills that a program hosts.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::Slot;
use super::call::{Call, CallOutcome};
use super::not_hosted::not_hosted;
use super::{Runnable, run};
#[cfg(feature = "http")]
use crate::context::Environment;
use crate::context::{State, States};
use crate::error::SkillError;
use crate::registry::{Registry, RegistryError, RegistryProblem, Skill};

/// The skills that a program hosts, ready to be called over any protocol.
///
/// It is cheap to clone; all clones host the same skills.
#[derive(Debug, Clone)]
pub struct SkillSet(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    skills: Vec<Arc<Runnable>>,
    by_reference: HashMap<String, Arc<Runnable>>,
    states: Arc<States>,
}

/// Why skills cannot be hosted.
#[derive(Debug)]
#[non_exhaustive]
pub enum SkillSetError {
    /// Something is wrong with the skills.
    Skills(Vec<RegistryProblem>),
    /// Skills were asked for that the program does not have.
    Unknown {
        /// The refs that were asked for.
        missing: Vec<String>,
        /// The refs that there are.
        known: Vec<String>,
    },
}

impl fmt::Display for SkillSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skills(problems) => {
                let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join("\n"))
            }
            Self::Unknown { missing, known } => write!(
                f,
                "this program has no skill {}; it has: {}",
                missing.join(", "),
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                },
            ),
        }
    }
}

impl Error for SkillSetError {}

impl From<RegistryError> for SkillSetError {
    fn from(error: RegistryError) -> Self {
        Self::Skills(error.problems().to_vec())
    }
}

impl SkillSet {
    /// All skills that are linked into the program.
    ///
    /// # Errors
    ///
    /// [`SkillSetError::Skills`] with all problems of all skills, such as two skills with one ref or an invalid contract.
    pub fn collect() -> Result<Self, SkillSetError> {
        Self::new(&Registry::collect()?)
    }

    /// Hosts those skills that are linked into the program and have one of these refs (`name@version`); without refs all of
    /// them. Nothing is derived or compiled of skills that are not hosted, so the others may be many, or broken.
    ///
    /// # Errors
    ///
    /// [`SkillSetError::Unknown`] if the program has no skill with one of the refs, else as
    /// [`collect`](Self::collect).
    pub fn collect_only<R: AsRef<str>>(references: &[R]) -> Result<Self, SkillSetError> {
        if references.is_empty() {
            return Self::collect();
        }
        let registry = Registry::collect_only(references)?;
        let missing: Vec<String> = references
            .iter()
            .map(|reference| reference.as_ref().to_owned())
            .filter(|reference| registry.get(reference).is_none())
            .collect();
        if !missing.is_empty() {
            let known = Registry::references().into_iter().map(str::to_owned).collect();
            return Err(SkillSetError::Unknown { missing, known });
        }
        Self::new(&registry)
    }

    /// All skills of a registry.
    ///
    /// # Errors
    ///
    /// [`SkillSetError::Skills`] with all problems of these skills.
    pub fn new(registry: &Registry) -> Result<Self, SkillSetError> {
        Self::build(registry.iter(), Arc::clone(registry.states()))
    }

    /// These skills, with your own shared values.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new).
    pub fn with_states(
        skills: impl IntoIterator<Item = &'static Skill>,
        states: States,
    ) -> Result<Self, SkillSetError> {
        Self::build(skills, Arc::new(states))
    }

    fn build(
        skills: impl IntoIterator<Item = &'static Skill>,
        states: Arc<States>,
    ) -> Result<Self, SkillSetError> {
        let mut problems = Vec::new();
        let mut runnables = Vec::new();
        let mut declared: HashMap<&str, &Skill> = HashMap::new();
        for skill in skills {
            if let Some(other) = declared.insert(skill.reference(), skill) {
                if other.declaration().origin != skill.declaration().origin {
                    problems.push(RegistryProblem::duplicate_skill(other, skill));
                }
                continue;
            }
            match Runnable::new(skill) {
                Ok(runnable) => runnables.push(Arc::new(runnable)),
                Err(found) => problems.extend(found),
            }
        }
        if !problems.is_empty() {
            return Err(SkillSetError::Skills(problems));
        }
        let by_reference = runnables
            .iter()
            .map(|runnable| (runnable.skill().reference().to_owned(), Arc::clone(runnable)))
            .collect();
        Ok(Self(Arc::new(Inner {
            skills: runnables,
            by_reference,
            states,
        })))
    }

    /// Gives skills a value that the program has already, such as the state of an application: `ctx.state::<T>()` finds
    /// it. It takes the place of one that a function marked `#[skill_sdk::state]` would build.
    ///
    /// ```standalone_crate
    /// # use skill_sdk::pipeline::SkillSet;
    /// # struct Pool;
    /// # fn host() -> Result<SkillSet, skill_sdk::pipeline::SkillSetError> {
    /// let host = SkillSet::collect()?.provide(Pool);
    /// # Ok(host)
    /// # }
    /// ```
    #[must_use]
    pub fn provide<T: State>(&self, value: T) -> Self {
        Self(Arc::new(Inner {
            skills: self.0.skills.clone(),
            by_reference: self.0.by_reference.clone(),
            states: Arc::new(States::clone(&self.0.states).with(value)),
        }))
    }

    /// The skill `name@version`, if it is hosted.
    pub fn get(&self, reference: &str) -> Option<&Arc<Runnable>> {
        self.0.by_reference.get(reference)
    }

    /// The failure of a call of a skill that is not hosted.
    pub(crate) fn not_hosted(&self, reference: &str) -> SkillError {
        not_hosted(reference, self.0.by_reference.keys().map(String::as_str))
    }

    /// All hosted skills, in the order of the registry.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Runnable> {
        self.runnables().map(AsRef::as_ref)
    }

    pub(crate) fn runnables(&self) -> impl ExactSizeIterator<Item = &Arc<Runnable>> {
        self.0.skills.iter()
    }

    /// Builds the states that are not built yet; gives the types of those that cannot be built.
    #[cfg(feature = "http")]
    pub(crate) async fn unavailable_states(&self, environment: &Environment) -> Vec<&'static str> {
        self.0.states.unavailable(environment).await
    }

    /// Calls a hosted skill. Dropping the future cancels the call.
    ///
    /// It needs the runtime of tokio, with its clock.
    pub async fn call(&self, runnable: &Runnable, call: Call) -> CallOutcome {
        run(runnable, &self.0.states, call, None).await
    }

    /// As [`call`](Self::call); a thread that goes on after its call keeps the slot.
    pub(crate) async fn call_in(&self, slot: Slot, runnable: &Runnable, call: Call) -> CallOutcome {
        run(runnable, &self.0.states, call, Some(slot)).await
    }
}
