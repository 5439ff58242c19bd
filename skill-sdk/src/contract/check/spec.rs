//! The rules of a spec: a contract with the columns beside it.

use serde_json::Value;

use super::contract::{Stage, check_contract_at, unknown_keys};
use super::policy::{self, check_policy, check_safe_retries};
use super::shape::check_version;
use super::text;
use super::violation::Violation;

/// The members of a spec. The last four are older notations that a platform still reads and that say nothing here.
const KEYS: [&str; 9] = [
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

/// Checks a spec, `{version, description, sideEffects, riskLevel, contract}`, in the author's hands; an empty list
/// means that nothing is wrong.
///
/// Pointers lead into the spec: those of the contract start with `/contract`. [`Violation::field`] stays relative to
/// the contract, as the platform reports it.
pub fn check_spec(spec: &Value) -> Vec<Violation> {
    check_spec_at(spec, Stage::Source)
}

/// [`check_spec`] for a given [`Stage`].
pub fn check_spec_at(spec: &Value, stage: Stage) -> Vec<Violation> {
    let Some(members) = spec.as_object() else {
        let message = format!("a spec must be a JSON object, not {}", text::kind(spec));
        return vec![Violation::invalid("", "spec", message)];
    };
    let mut found = Vec::new();
    unknown_keys(members, &KEYS, "", "spec", "a spec", &mut found);
    match members.get("version") {
        Some(Value::String(version)) => found.extend(check_version(version).err()),
        other => {
            let is = other.map_or("missing", text::kind);
            let message = format!("`version` must be a string such as \"1\", it is {is}");
            found.push(Violation::invalid("/version", "version", message));
        }
    }
    if let Some(description) = members.get("description").filter(|value| !value.is_string()) {
        let message = format!("`description` must be a string, not {}", text::kind(description));
        found.push(Violation::invalid("/description", "description", message));
    }
    let column = |key: &str| members.get(key).unwrap_or(&Value::Null);
    found.extend(check_policy(column("sideEffects"), column("riskLevel")));

    let Some(contract) = members.get("contract") else {
        found.push(Violation::invalid(
            "/contract",
            "contract",
            "the spec has no `contract`, which is required",
        ));
        return found;
    };
    let contract_violations = check_contract_at(contract, stage).into_iter();
    found.extend(contract_violations.map(|violation| violation.under("/contract")));
    if let (Some(side_effects), Some(idempotency), Some(attempts)) = (
        column("sideEffects").as_str(),
        policy::idempotency_of(contract),
        policy::max_attempts_of(contract),
    ) {
        let unsafe_retry = check_safe_retries(side_effects, idempotency, attempts).err();
        found.extend(unsafe_retry.map(|violation| violation.under("/contract")));
    }
    found
}
