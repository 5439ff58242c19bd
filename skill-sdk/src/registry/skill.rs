//! One skill: the handle that `#[skill(…)]` adds next to the function.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value, json};

use super::{Declaration, RegistryProblem};
use crate::contract::schema::OutputShape;
use crate::contract::{Contract, Spec, Stage, Violation, validate_name, validate_spec};
use crate::handler::Handler;

/// The handle of a skill: its declaration, its contract and its function.
///
/// `#[skill(…)]` on the function `merge` makes it available as `merge::SKILL`. The contract is built on first use.
pub struct Skill {
    declaration: &'static Declaration,
    handler: &'static Handler,
    reference: OnceLock<Arc<str>>,
    described: OnceLock<Result<SkillDescription, Vec<RegistryProblem>>>,
}

/// Everything derived from the declaration and the types of a skill.
#[derive(Debug)]
pub struct SkillDescription {
    spec: Spec,
    document: Value,
    output_shape: OutputShape,
    metadata: Map<String, Value>,
}

impl SkillDescription {
    /// The contract with its metadata.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The contract.
    pub fn contract(&self) -> &Contract {
        &self.spec.contract
    }

    /// The spec as a JSON document of the catalog.
    pub fn document(&self) -> &Value {
        &self.document
    }

    /// How the outputs are wrapped into an object.
    #[doc(hidden)]
    pub fn output_shape(&self) -> OutputShape {
        self.output_shape
    }

    /// The metadata beside the contract.
    pub fn metadata(&self) -> &Map<String, Value> {
        &self.metadata
    }
}

impl Skill {
    /// Creates a skill from its declaration and its handler.
    #[doc(hidden)]
    pub const fn new(declaration: &'static Declaration, handler: &'static Handler) -> Self {
        Self {
            declaration,
            handler,
            reference: OnceLock::new(),
            described: OnceLock::new(),
        }
    }

    /// The name, such as `git.merge`.
    pub fn name(&self) -> &'static str {
        self.declaration.name
    }

    /// The version, such as `2`.
    pub fn version(&self) -> &'static str {
        self.declaration.version
    }

    /// The ref: `name@version`.
    pub fn reference(&self) -> &str {
        self.shared_reference()
    }

    pub(crate) fn shared_reference(&self) -> &Arc<str> {
        self.reference
            .get_or_init(|| format!("{}@{}", self.name(), self.version()).into())
    }

    /// The arguments of the attribute.
    #[doc(hidden)]
    pub fn declaration(&self) -> &'static Declaration {
        self.declaration
    }

    /// The contract and everything else that is derived.
    ///
    /// # Errors
    ///
    /// All problems of the skill, such as a type without a schema or a contract that breaks the publication rules.
    pub fn described(&self) -> Result<&SkillDescription, &[RegistryProblem]> {
        self.described
            .get_or_init(|| self.describe())
            .as_ref()
            .map_err(Vec::as_slice)
    }

    /// The function of the skill.
    #[doc(hidden)]
    pub fn handler(&self) -> &'static Handler {
        self.handler
    }

    fn describe(&self) -> Result<SkillDescription, Vec<RegistryProblem>> {
        let declaration = self.declaration;
        let inputs = match declaration.inputs_schema {
            Some(given) => given(),
            None => self.handler.inputs_schema(),
        };
        let outputs = match declaration.outputs_schema {
            Some(given) => given().map(|schema| (schema, OutputShape::Object)),
            None => self.handler.outputs_schema(),
        };
        let mut problems = Vec::new();
        let mut report = |code: &str, pointer: Option<&str>, message| {
            let pointer = pointer.map(str::to_owned);
            problems.push(RegistryProblem::of(self, code, pointer, message));
        };
        let code = "invalid_skill_contract";
        let inputs = inputs.map_err(|message| report(code, Some("/contract/inputs"), message));
        let outputs = outputs.map_err(|message| report(code, Some("/contract/outputs"), message));
        let metadata = declaration.metadata();
        let metadata = metadata.map_err(|message| report("invalid_examples", None, message));
        let (Ok(inputs), Ok((outputs, output_shape)), Ok(metadata)) = (inputs, outputs, metadata) else {
            return Err(problems);
        };

        let spec = Spec::new(
            self.version().to_owned(),
            declaration.description_text(),
            declaration.side_effects,
            declaration.risk,
            declaration.contract(inputs, outputs),
        );
        let document = json!(spec);
        let found = validate_name(self.name())
            .into_iter()
            .chain(validate_spec(&document, Stage::Source));
        for violation in found.filter(Violation::is_blocking) {
            report(violation.code, Some(&violation.pointer), violation.message);
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(SkillDescription {
            spec,
            document,
            output_shape,
            metadata,
        })
    }
}

impl fmt::Debug for Skill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Skill")
            .field("reference", &self.reference())
            .field("origin", &self.declaration.origin)
            .finish_non_exhaustive()
    }
}
