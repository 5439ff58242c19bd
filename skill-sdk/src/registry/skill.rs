//! One skill: the handle that `#[skill(…)]` puts beside the function.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::declaration::Parts;
use super::{Declaration, RegistryProblem};
use crate::contract::check::{check_header_annotations, check_name, check_spec, check_version};
use crate::contract::schema::{OutputShape, Outputs, SchemaProblem};
use crate::contract::{Contract, Spec};
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
        let Parts {
            description,
            idempotency,
            retry,
            required_permissions,
            preconditions,
            postconditions,
            cost_model,
            implementation,
            inputs_schema,
            outputs_schema,
        } = self.declaration.parts();

        let inputs = match (inputs_schema, self.handler.inputs_schema()) {
            (Some(Ok(schema)), _) | (None, Some(Ok(schema))) => schema,
            (Some(Err(message)), _) => self.unusable(&mut problems, "inputs", message),
            (None, Some(Err(problem))) => self.unusable(&mut problems, "inputs", text(&problem)),
            (None, None) => self.unusable(&mut problems, "inputs", "there is no schema of the inputs".into()),
        };
        let (outputs, output_shape) = match (outputs_schema, self.handler.outputs_schema()) {
            (Some(Ok(schema)), _) => (schema, OutputShape::Object),
            (None, Some(Ok(Outputs { schema, shape, .. }))) => (schema, shape),
            (Some(Err(message)), _) => (
                self.unusable(&mut problems, "outputs", message),
                OutputShape::Object,
            ),
            (None, Some(Err(problem))) => (
                self.unusable(&mut problems, "outputs", text(&problem)),
                OutputShape::Object,
            ),
            (None, None) => {
                let message = "there is no schema of the outputs".into();
                (
                    self.unusable(&mut problems, "outputs", message),
                    OutputShape::Object,
                )
            }
        };
        let metadata = self.declaration.metadata().unwrap_or_else(|message| {
            problems.push(RegistryProblem::of(self, "invalid_examples", None, message));
            Map::new()
        });

        let spec = Spec {
            version: self.version().to_owned(),
            description,
            side_effects: self.declaration.side_effects(),
            risk: self.declaration.risk(),
            contract: Contract {
                inputs,
                outputs,
                idempotency,
                timeout_seconds: self.declaration.timeout_seconds(),
                retry,
                required_permissions,
                preconditions,
                postconditions,
                cost_model,
                implementation,
            },
        };
        let document = spec.to_value();
        let mut warnings = Vec::new();
        let found = check_name(self.name())
            .err()
            .into_iter()
            .chain(check_version(self.version()).err())
            // A schema that could not be made was reported above, with the reason.
            .chain(check_spec(&document).into_iter().filter(|_| problems.is_empty()))
            .chain(check_header_annotations(&spec.contract.inputs));
        for violation in found.collect::<Vec<_>>() {
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

fn text(problem: &SchemaProblem) -> String {
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
