//! The rules of a whole contract, in the platform's order.

use serde_json::{Map, Value};

use super::violation::{Violation, code};
use super::{implementation, limits, permissions, policy, schema, text};

/// The members of a contract, in their canonical order.
const KEYS: [&str; 10] = [
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

/// When a contract is checked: it decides what may still be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Stage {
    /// In the author's hands: an endpoint may start with `${VAR}`, which is filled in before publication.
    #[default]
    Source,
    /// As the platform receives it: nothing is left to fill in.
    Publication,
}

/// Checks a contract in the author's hands ([`Stage::Source`]); an empty list means that nothing is wrong.
///
/// All violations are returned, in the platform's order: limits, unknown keys, missing keys, `inputs`, `outputs`,
/// permissions, timeout, retries, idempotency, cost, conditions, implementation. Only a contract that is not an
/// object or is nested too deeply is not looked at any further.
///
/// Declared conditions are an error here, since publication refuses them; whether a skill may run with its
/// violations says [`Violation::is_blocking`].
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use skill_sdk::contract::check::{Violation, check_contract};
///
/// let found = check_contract(&json!({"inputs": {}, "outputs": {}, "timeoutSeconds": 0}));
/// let fields: Vec<&str> = found.iter().map(Violation::field).collect();
/// assert_eq!(fields, ["implementation", "timeoutSeconds"]);
/// ```
pub fn check_contract(contract: &Value) -> Vec<Violation> {
    check_contract_at(contract, Stage::Source)
}

/// [`check_contract`] for a given [`Stage`].
pub fn check_contract_at(contract: &Value, stage: Stage) -> Vec<Violation> {
    let Some(members) = contract.as_object() else {
        let message = format!("a contract must be a JSON object, not {}", text::kind(contract));
        return vec![Violation::invalid("", "contract", message)];
    };
    let mut found = limits::check(contract);
    // From here on depth is bounded, and with it the cost of pointers.
    if found
        .iter()
        .any(|violation| violation.code == code::PAYLOAD_TOO_DEEP)
    {
        return found;
    }
    unknown_keys(members, &KEYS, "", "contract", "a contract", &mut found);
    for key in ["inputs", "outputs", "implementation"] {
        if !members.contains_key(key) {
            let message = format!("the contract has no `{key}`, which is required");
            found.push(Violation::invalid(text::child("", key), key, message));
        }
    }
    for key in ["inputs", "outputs"] {
        if let Some(schema) = members.get(key) {
            found.extend(schema::check_schema(schema, key));
        }
    }
    permissions::check(members.get("requiredPermissions"), &mut found);
    policy::check_timeout(members.get("timeoutSeconds"), &mut found);
    policy::check_retry(members.get("retryPolicy"), &mut found);
    policy::check_idempotency(members.get("idempotency"), &mut found);
    policy::check_cost(members.get("costModel"), &mut found);
    policy::check_conditions(members, "preconditions", &mut found);
    policy::check_conditions(members, "postconditions", &mut found);
    if let Some(value) = members.get("implementation") {
        implementation::check(value, stage, &mut found);
    }
    found
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
        let message = format!(
            "{what} has no member {}: {}",
            text::quoted(key),
            text::known_keys(key, known)
        );
        Violation::invalid(text::child(pointer, key), field, message)
    }));
}
