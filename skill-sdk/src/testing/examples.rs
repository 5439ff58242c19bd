//! Runs the examples that a skill declares.

use serde_json::Value;

use super::invoke;
use crate::registry::{RegistryProblem, Skill};
use crate::validation::check_examples;

/// Validates the declared examples against the contract and runs each of them. The call must succeed and return the outputs of
/// the example, if it has any. Returns the number of examples, or the failures.
///
/// ```
/// use serde_json::json;
/// use skill_sdk::{skill, testing};
///
/// /// Double a number.
/// #[skill(
///     "number.double", version = "1", side_effects = "none", risk = "low",
///     examples = json!([{"inputs": {"number": 2}, "outputs": {"result": 4}}]),
/// )]
/// fn double(number: i32) -> i32 {
///     number * 2
/// }
///
/// assert_eq!(testing::run_examples(double::SKILL).unwrap(), 1);
/// ```
///
/// # Errors
///
/// One message for each problem: the contract is invalid, an example does not conform to it, a call fails, or its outputs differ
/// from those of the example.
pub fn run_examples(skill: &'static Skill) -> Result<usize, Vec<String>> {
    let problems =
        |problems: &[RegistryProblem]| problems.iter().map(ToString::to_string).collect::<Vec<_>>();
    let described = skill.described().map_err(problems)?;
    let Some(examples) = described.metadata().get("examples") else {
        return Ok(0);
    };
    let contract = described.contract();
    let wrong = check_examples(&contract.inputs, &contract.outputs, examples);
    if !wrong.is_empty() {
        let line = |(pointer, message)| format!("examples{pointer}: {message}");
        return Err(wrong.into_iter().map(line).collect());
    }
    let examples = examples.as_array().map(Vec::as_slice).unwrap_or_default();
    let failed: Vec<String> = examples
        .iter()
        .enumerate()
        .filter_map(|(index, example)| run(skill, index, example).err())
        .collect();
    if failed.is_empty() {
        Ok(examples.len())
    } else {
        Err(failed)
    }
}

fn run(skill: &'static Skill, index: usize, example: &Value) -> Result<(), String> {
    let name = match example["name"].as_str() {
        Some(name) => format!("example {index} ({name})"),
        None => format!("example {index}"),
    };
    let call = invoke(skill, &example["inputs"]).idempotency_key(format!("example-{index}"));
    let result = call.blocking().map_err(|error| format!("{name}: {error}"))?;
    match example.get("outputs") {
        Some(expected) if *expected != result.outputs => Err(format!(
            "{name}: expected the outputs {expected}, got {}",
            result.outputs
        )),
        _ => Ok(()),
    }
}
