//! The rules of a whole contract and of the spec around it, in the platform's order.

use serde_json::{Map, Value};

use super::violation::{Violation, code};
use super::{headers, implementation, limits, permissions, policy, schema};
use crate::rules;
use crate::text::{child, kind, quoted};

/// The members of a contract, in their canonical order.
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

/// The members of a spec. The last four are older notations that a platform still reads and that say nothing here.
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
/// use skill_sdk_contract::{Stage, Violation, validate};
///
/// let found = validate(&json!({"inputs": {}, "outputs": {}, "timeoutSeconds": 0}), Stage::Source);
/// let fields: Vec<&str> = found.iter().map(Violation::field).collect();
/// assert_eq!(fields, ["implementation", "timeoutSeconds"]);
/// ```
pub fn validate(contract: &Value, stage: Stage) -> Vec<Violation> {
    let Some(members) = contract.as_object() else {
        let message = format!("a contract must be a JSON object, not {}", kind(contract));
        return vec![Violation::invalid("", "contract", message)];
    };
    let mut found = limits::check(contract);
    // From here on depth is bounded, and with it the cost of pointers.
    if found.iter().any(is_too_deep) {
        return found;
    }
    unknown_keys(members, &CONTRACT_KEYS, "", "contract", "a contract", &mut found);
    for key in ["inputs", "outputs", "implementation"] {
        if !members.contains_key(key) {
            let message = format!("the contract has no `{key}`, which is required");
            found.push(Violation::invalid(child("", key), key, message));
        }
    }
    for key in ["inputs", "outputs"] {
        if let Some(schema) = members.get(key) {
            found.extend(schema::check(schema, key));
        }
    }
    permissions::check(members.get("requiredPermissions"), &mut found);
    policy::check(members, &mut found);
    if let Some(value) = members.get("implementation") {
        implementation::check(value, stage, &mut found);
    }
    found
}

/// Validates a spec, `{version, description, sideEffects, riskLevel, contract}`: the contract, what stands beside it, and
/// the header annotations that clients of MCP read.
///
/// Pointers lead into the spec: those of the contract start with `/contract`. [`Violation::field`] stays relative to
/// the contract, as the platform reports it.
pub fn validate_spec(spec: &Value, stage: Stage) -> Vec<Violation> {
    let Some(members) = spec.as_object() else {
        let message = format!("a spec must be a JSON object, not {}", kind(spec));
        return vec![Violation::invalid("", "spec", message)];
    };
    let mut found = Vec::new();
    unknown_keys(members, &SPEC_KEYS, "", "spec", "a spec", &mut found);
    let version = match members.get("version") {
        Some(Value::String(version)) => rules::version(version),
        other => Err(format!(
            "`version` must be a string such as \"1\", it is {}",
            other.map_or("missing", kind)
        )),
    };
    found.extend(broken(version, "/version", "version"));
    if let Some(description) = members.get("description").filter(|value| !value.is_string()) {
        let message = format!("`description` must be a string, not {}", kind(description));
        found.push(Violation::invalid("/description", "description", message));
    }
    let column = |key: &str| members.get(key).unwrap_or(&Value::Null);
    policy::check_columns(column("sideEffects"), column("riskLevel"), &mut found);

    let Some(contract) = members.get("contract") else {
        let message = "the spec has no `contract`, which is required";
        found.push(Violation::invalid("/contract", "contract", message));
        return found;
    };
    let mut inner = validate(contract, stage);
    if let Some(side_effects) = column("sideEffects").as_str() {
        inner.extend(policy::check_retries_of(contract, side_effects));
    }
    if let Some(inputs) = contract.get("inputs").filter(|_| !inner.iter().any(is_too_deep)) {
        headers::check(inputs, &mut inner);
    }
    found.extend(inner.into_iter().map(|violation| violation.under("/contract")));
    found
}

fn is_too_deep(violation: &Violation) -> bool {
    violation.code == code::PAYLOAD_TOO_DEEP
}

/// Validates the name of a skill. The violation points at `/key`, its place in the document of the catalog.
pub fn validate_name(name: &str) -> Option<Violation> {
    broken(rules::name(name), "/key", "name")
}

/// The violation of a rule that is broken.
pub(super) fn broken(
    rule: Result<(), String>,
    pointer: &'static str,
    field: &'static str,
) -> Option<Violation> {
    rule.err()
        .map(|reason| Violation::invalid(pointer, field, reason))
}

/// Reports every key of `members` that is not in `known`, in alphabetical order.
pub(super) fn unknown_keys(
    members: &Map<String, Value>,
    known: &[&str],
    pointer: &str,
    field: &'static str,
    what: &str,
    found: &mut Vec<Violation>,
) {
    let mut unknown: Vec<&str> = members
        .keys()
        .map(String::as_str)
        .filter(|key| !known.contains(key))
        .collect();
    unknown.sort_unstable();
    found.extend(unknown.into_iter().map(|key| {
        let message = format!("{what} has no member {}: {}", quoted(key), known_keys(key, known));
        Violation::invalid(child(pointer, key), field, message)
    }));
}

/// The end of a message about an unknown key: the key that was probably meant, else all that are known.
fn known_keys(key: &str, known: &[&str]) -> String {
    let plain = |text: &str| text.replace(['_', '-'], "").to_lowercase();
    match known.iter().find(|candidate| plain(candidate) == plain(key)) {
        Some(candidate) => format!("did you mean `{candidate}`?"),
        None => format!("known are {}", known.join(", ")),
    }
}
