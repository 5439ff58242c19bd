//! Tests of the publication rules.

mod contract;
mod differential;
mod limits;
mod parts;
mod pattern;
mod reach;
mod replay;
mod robust;
mod schema;

use serde_json::{Value, json};

use super::{Stage, Violation, code, normalize, validate, validate_spec};

fn check_contract(contract: &Value) -> Vec<Violation> {
    validate(contract, Stage::Source)
}

fn check_spec(spec: &Value) -> Vec<Violation> {
    validate_spec(spec, Stage::Source)
}

fn normalized(contract: &Value) -> Result<Value, Vec<Violation>> {
    normalize(contract, Stage::Source)
}

/// A contract that breaks no rule.
fn minimal() -> Value {
    json!({
        "inputs": {"type": "object"},
        "outputs": {"type": "object"},
        "implementation": {"protocol": "local", "entrypoint": "a.b:c"},
    })
}

/// [`minimal`] with other fields.
fn minimal_with(members: &Value) -> Value {
    let mut contract = minimal();
    for (key, value) in members.as_object().unwrap() {
        contract[key] = value.clone();
    }
    contract
}

/// Violations as `code pointer`, a leading `?` for a warning.
fn brief(found: &[Violation]) -> Vec<String> {
    let brief = |violation: &Violation| {
        let warning = if violation.is_error() { "" } else { "?" };
        let code = match violation.code {
            code::INVALID_SKILL_CONTRACT => "contract",
            code::INVALID_JSON_SCHEMA => "schema",
            code::SECRET_MATERIAL_REJECTED => "secret",
            other => other,
        };
        format!("{warning}{code} {}", violation.pointer)
    };
    found.iter().map(brief).collect()
}
