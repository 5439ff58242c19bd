//! A skill with its schemas compiled, ready to be called.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::violations::INPUTS;
use super::{locate, panics, relax};
use crate::context::{Meta, SkillContext, States};
use crate::contract::schema::OutputShape;
use crate::error::SkillError;
use crate::handler::Running;
use crate::registry::{RegistryProblem, Skill, SkillDescription};
use crate::validation::Schema;

/// A skill with its schemas compiled.
#[derive(Debug)]
pub struct Runnable {
    skill: &'static Skill,
    described: &'static SkillDescription,
    inputs: Arc<Schema>,
    outputs: Arc<Schema>,
    /// How many polls blocked their thread for long.
    slow_polls: AtomicU64,
}

impl Runnable {
    /// Compiles the schemas of a skill.
    pub(crate) fn new(skill: &'static Skill) -> Result<Self, Vec<RegistryProblem>> {
        let described = skill.described().map_err(<[_]>::to_vec)?;
        let contract = described.contract();
        let mut problems = Vec::new();
        let mut compile = |side: &str, schema: &Value| {
            Schema::compile(schema).map_err(|message| {
                problems.push(RegistryProblem::invalid_schema(skill, side, &message));
            })
        };
        let (inputs, outputs) = (
            compile("inputs", &contract.inputs),
            compile("outputs", &contract.outputs),
        );
        match (inputs, outputs) {
            (Ok(inputs), Ok(outputs)) => Ok(Self {
                skill,
                described,
                inputs: Arc::new(inputs),
                outputs: Arc::new(outputs),
                slow_polls: AtomicU64::new(0),
            }),
            _ => Err(problems),
        }
    }

    /// The skill.
    pub fn skill(&self) -> &'static Skill {
        self.skill
    }

    /// The contract and metadata that are derived from its declaration and types.
    pub fn described(&self) -> &'static SkillDescription {
        self.described
    }

    /// The schema of the inputs.
    pub(super) fn inputs(&self) -> &Arc<Schema> {
        &self.inputs
    }

    /// The schema of the outputs.
    pub(super) fn outputs(&self) -> &Arc<Schema> {
        &self.outputs
    }

    /// How many polls of the skill's `async fn` blocked their thread for more than 100 ms.
    pub fn slow_polls(&self) -> u64 {
        self.slow_polls.load(Ordering::Relaxed)
    }

    pub(super) fn count_slow_poll(&self) {
        self.slow_polls.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn output_shape(&self) -> OutputShape {
        self.described.output_shape()
    }

    /// The timeout of the contract.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.described.contract().timeout_seconds.into())
    }

    /// The context of one call.
    pub(super) fn context(&self, states: &Arc<States>, mut meta: Meta) -> SkillContext {
        meta.time_limit(self.timeout());
        let skill = Arc::clone(self.skill.shared_reference());
        let declared = self.skill.declaration().asks();
        SkillContext::of_call(skill, declared, Arc::clone(states), meta)
    }

    /// Parses the inputs and prepares the call.
    pub(super) fn start(&self, json: &str, context: &SkillContext) -> Result<Running, SkillError> {
        let start = |json: &str| {
            // `Deserialize` may be the author's own code.
            panics::caught(self.skill, || self.skill.handler().start(json, context.clone()))
        };
        let error = match start(json)? {
            Ok(running) => return Ok(running),
            Err(error) => error,
        };
        // The schema accepts `1.0` as an integer and the last of two fields of one name; Rust types do not.
        let (json, error) = match relax::relaxed(json) {
            None => (Cow::Borrowed(json), error),
            Some(relaxed) => match start(&relaxed)? {
                Ok(running) => return Ok(running),
                // The relaxed form is allowed, so its error is the real one.
                Err(error) => (Cow::Owned(relaxed), error),
            },
        };
        let path = locate::path(&json, &error);
        Err(INPUTS.violation(path, locate::message(&error)))
    }
}
