//! The rules of a whole contract and of the spec around it, in the platform's order.

use serde_json::Value;

use super::violation::{Found, Violation, code};
use super::{headers, implementation, limits, policy, schema};
use crate::rules;
use crate::text::kind;

/// The fields of a contract, in their canonical order.
const CONTRACT_KEYS: [&str; 10] = [
    "inputs",
    "outputs",
    "idempotency",
    "timeoutSeconds",
    "retryPolicy",
    "requiredPermissions",
    "preconditions",
    "postconditions",
    "costModel",
    "implementation",
];

/// The fields of a spec. A platform still reads the last four, which are older notations; they are ignored here.
const SPEC_KEYS: [&str; 9] = [
    "version",
    "description",
    "sideEffects",
    "riskLevel",
    "contract",
    "protocol",
    "config",
    "inputSchema",
    "outputSchema",
];

/// When a contract is validated: it decides what may still be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Stage {
    /// In the author's hands: an endpoint may start with `${VAR}`, which is filled in before publication.
    #[default]
    Source,
    /// As the platform receives it: nothing is left to fill in.
    Publication,
}

/// Validates a contract by the publication rules; an empty list means that nothing is wrong.
///
/// All violations are returned, in the platform's order: limits, unknown keys, missing keys, `inputs`, `outputs`,
/// permissions, timeout, retries, idempotency, cost, conditions, implementation. Only a contract that is not an
/// object or is nested too deeply is not looked at any further.
///
/// Declared conditions are an error, since publication rejects them; [`Violation::is_blocking`] says whether a skill may
/// run with its violations.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use skill_sdk_contract::{Stage, validate};
///
/// let found = validate(&json!({"inputs": {}, "outputs": {}, "timeoutSeconds": 0}), Stage::Source);
/// let fields: Vec<&str> = found.iter().map(|violation| violation.field).collect();
/// assert_eq!(fields, ["implementation", "timeoutSeconds"]);
/// ```
pub fn validate(contract: &Value, stage: Stage) -> Vec<Violation> {
    let mut found = Found(limits::check(contract));
    let Some(members) = found.object(contract, "contract") else {
        return found.0;
    };
    // From here on depth is bounded, and with it the cost of pointers.
    if found.0.iter().any(is_too_deep) {
        return found.0;
    }
    found.unknown_keys(members, &CONTRACT_KEYS, "contract");
    for key in ["inputs", "outputs", "implementation"] {
        if !members.contains_key(key) {
            found.invalid_field(key, format!("the contract has no `{key}`, which is required"));
        }
    }
    for key in ["inputs", "outputs"] {
        if let Some(value) = members.get(key) {
            schema::check(value, key, &mut found);
        }
    }
    policy::check(members, &mut found);
    if let Some(value) = members.get("implementation") {
        implementation::check(value, stage, &mut found);
    }
    found.0
}

/// Validates a spec, `{version, description, sideEffects, riskLevel, contract}`: the contract, the fields beside it, and
/// the header annotations that clients of MCP read.
///
/// Pointers lead into the spec: those of the contract start with `/contract`. [`Violation::field`] stays relative to
/// the contract, as the platform reports it.
pub fn validate_spec(spec: &Value, stage: Stage) -> Vec<Violation> {
    let mut found = Found::default();
    let Some(members) = found.object(spec, "spec") else {
        return found.0;
    };
    found.unknown_keys(members, &SPEC_KEYS, "spec");
    let version = match members.get("version") {
        Some(Value::String(version)) => rules::version(version),
        other => Err(format!(
            "`version` must be a string such as \"1\", it is {}",
            other.map_or("missing", kind)
        )),
    };
    found.rule(version, "version");
    if let Some(description) = members.get("description").filter(|value| !value.is_string()) {
        let message = format!("`description` must be a string, not {}", kind(description));
        found.invalid_field("description", message);
    }
    policy::check_columns(members, &mut found);

    let Some(contract) = members.get("contract") else {
        let message = "the spec has no `contract`, which is required";
        found.invalid("/contract", "contract", message);
        return found.0;
    };
    let mut inner = Found(validate(contract, stage));
    if let Some(side_effects) = members.get("sideEffects").and_then(Value::as_str) {
        policy::check_retries_of(contract, side_effects, &mut inner);
    }
    if let Some(inputs) = contract
        .get("inputs")
        .filter(|_| !inner.0.iter().any(is_too_deep))
    {
        headers::check(inputs, &mut inner);
    }
    found
        .0
        .extend(inner.0.into_iter().map(|violation| violation.under("/contract")));
    found.0
}

fn is_too_deep(violation: &Violation) -> bool {
    violation.code == code::PAYLOAD_TOO_DEEP
}

/// Validates the name of a skill. The violation points at `/key`, its place in the document of the catalog.
pub fn validate_name(name: &str) -> Option<Violation> {
    let reason = rules::name(name).err()?;
    Some(Violation::error(
        code::INVALID_SKILL_CONTRACT,
        "/key",
        "name",
        reason,
    ))
}
