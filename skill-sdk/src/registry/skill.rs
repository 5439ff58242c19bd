//! One skill: the handle that `#[skill(…)]` puts beside the function.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::{Declaration, RegistryProblem};
use crate::contract::schema::{OutputShape, Outputs, SchemaProblem};
use crate::contract::{Contract, Spec, Stage, validate_name, validate_spec};
use crate::handler::Handler;

/// The handle of a skill: what it declares, its contract, and the function behind it.
///
/// `#[skill(…)]` on the function `merge` makes it available as `merge::SKILL`. The contract is built when it is first asked
/// for.
pub struct Skill {
    declaration: &'static Declaration,
    handler: &'static Handler,
    reference: OnceLock<Arc<str>>,
    described: OnceLock<Result<SkillDescription, Vec<RegistryProblem>>>,
}

/// What is derived from the declaration and the types of a skill.
#[derive(Debug)]
pub struct SkillDescription {
    spec: Spec,
    document: Value,
    output_shape: OutputShape,
    metadata: Map<String, Value>,
    warnings: Vec<RegistryProblem>,
}

impl SkillDescription {
    /// The contract with what stands beside it.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The contract.
    pub fn contract(&self) -> &Contract {
        &self.spec.contract
    }

    /// The spec as the JSON document of the catalog.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// How the outputs are put into an object.
    pub fn output_shape(&self) -> OutputShape {
        self.output_shape
    }

    /// What is declared beside the contract.
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }

    /// What is not wrong, but may be.
    pub fn warnings(&self) -> &[RegistryProblem] {
        &self.warnings
    }
}

impl Skill {
    /// The skill that `declaration` declares and `handler` implements.
    #[doc(hidden)]
    pub const fn new(declaration: &'static Declaration, handler: &'static Handler) -> Self {
        Self {
            declaration,
            handler,
            reference: OnceLock::new(),
            described: OnceLock::new(),
        }
    }

    /// The name: `git.merge`.
    pub fn name(&self) -> &'static str {
        self.declaration.name()
    }

    /// The version: `2`.
    pub fn version(&self) -> &'static str {
        self.declaration.version()
    }

    /// `name@version`.
    pub fn reference(&self) -> &str {
        self.shared_reference()
    }

    pub(crate) fn shared_reference(&self) -> &Arc<str> {
        self.reference
            .get_or_init(|| format!("{}@{}", self.name(), self.version()).into())
    }

    /// What the attribute says.
    pub fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    /// The contract and all else that is derived, or everything that is wrong with it.
    pub fn described(&self) -> Result<&SkillDescription, &[RegistryProblem]> {
        self.described
            .get_or_init(|| self.describe())
            .as_ref()
            .map_err(Vec::as_slice)
    }

    /// The function behind the skill.
    #[doc(hidden)]
    pub fn handler(&self) -> &'static Handler {
        self.handler
    }

    fn describe(&self) -> Result<SkillDescription, Vec<RegistryProblem>> {
        let mut problems = Vec::new();
        let [inputs, outputs] = self.declaration.schemas();
        let inputs = inputs
            .or_else(|| self.handler.inputs_schema().map(|made| made.map_err(text)))
            .unwrap_or_else(|| Err("there is no schema of the inputs".to_owned()))
            .unwrap_or_else(|message| self.unusable(&mut problems, "inputs", message));
        let (outputs, output_shape) = outputs
            .map(|given| given.map(|schema| (schema, OutputShape::Object)))
            .or_else(|| {
                let made = self.handler.outputs_schema()?;
                Some(
                    made.map(|Outputs { schema, shape, .. }| (schema, shape))
                        .map_err(text),
                )
            })
            .unwrap_or_else(|| Err("there is no schema of the outputs".to_owned()))
            .unwrap_or_else(|message| {
                (
                    self.unusable(&mut problems, "outputs", message),
                    OutputShape::Object,
                )
            });
        let metadata = self.declaration.metadata().unwrap_or_else(|message| {
            problems.push(RegistryProblem::of(self, "invalid_examples", None, message));
            Map::new()
        });

        let spec = Spec::new(
            self.version().to_owned(),
            self.declaration.description_text(),
            self.declaration.side_effects(),
            self.declaration.risk(),
            self.declaration.contract(inputs, outputs),
        );
        let document = json!(spec);
        let mut warnings = Vec::new();
        let mut found: Vec<_> = validate_name(self.name()).into_iter().collect();
        // A schema that could not be made was reported above, with the reason.
        if problems.is_empty() {
            found.extend(validate_spec(&document, Stage::Source));
        }
        for violation in found {
            let blocking = violation.is_blocking();
            let problem =
                RegistryProblem::of(self, violation.code, Some(violation.pointer), violation.message);
            if blocking {
                problems.push(problem);
            } else {
                warnings.push(problem);
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(SkillDescription {
            spec,
            document,
            output_shape,
            metadata,
            warnings,
        })
    }

    /// Reports that a side has no usable schema; the empty one takes its place meanwhile.
    fn unusable(&self, problems: &mut Vec<RegistryProblem>, side: &str, message: String) -> Value {
        let pointer = Some(format!("/contract/{side}"));
        problems.push(RegistryProblem::of(
            self,
            "invalid_skill_contract",
            pointer,
            message,
        ));
        Value::Object(Map::new())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used as a function of `map_err`")]
fn text(problem: SchemaProblem) -> String {
    problem.to_string()
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill")
            .field("reference", &self.reference())
            .field("origin", self.declaration.origin())
            .finish_non_exhaustive()
    }
}
