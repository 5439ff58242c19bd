//! Policy: side effects, risk, timeout, retries, idempotency, cost, conditions.

use serde_json::{Map, Value};

use super::contract::unknown_keys;
use super::text::{child, kind, shown};
use super::violation::{Violation, code};

/// What a skill may do to the world outside.
pub const SIDE_EFFECTS: &[&str] = &["none", "external_read", "external_write"];
/// How bad a wrong call is.
pub const RISK_LEVELS: &[&str] = &["low", "medium", "high"];
/// Whether a call may be repeated.
pub const IDEMPOTENCY: &[&str] = &["required", "natural", "none"];
/// The longest timeout of a call, in seconds. The shortest is 1.
pub const MAX_TIMEOUT_SECONDS: u64 = 3600;
/// The largest number of attempts. The smallest is 1.
pub const MAX_ATTEMPTS: u64 = 10;
/// The longest pause between two attempts, in seconds. The shortest is 0.
pub const MAX_BACKOFF_SECONDS: u64 = 3600;

/// What the platform fills in for an absent member of the contract.
pub(super) const DEFAULT_TIMEOUT_SECONDS: u64 = 60;
pub(super) const DEFAULT_ATTEMPTS: u64 = 1;
pub(super) const DEFAULT_BACKOFF_SECONDS: u64 = 0;
pub(super) const DEFAULT_IDEMPOTENCY: &str = "none";

/// Checks the columns `sideEffects` and `riskLevel` of a spec; pass `null` for an absent one.
pub fn check_policy(side_effects: &Value, risk_level: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    one_of(side_effects, "sideEffects", SIDE_EFFECTS, &mut found);
    one_of(risk_level, "riskLevel", RISK_LEVELS, &mut found);
    found
}

/// Checks that a repeated attempt cannot become a second external effect: a skill that writes outside and has no
/// idempotency gets one attempt.
///
/// # Errors
///
/// `invalid_skill_contract` at `/retryPolicy/maxAttempts`, relative to the contract.
pub fn check_safe_retries(side_effects: &str, idempotency: &str, max_attempts: u64) -> Result<(), Violation> {
    if side_effects != "external_write" || idempotency != "none" || max_attempts <= 1 {
        return Ok(());
    }
    Err(Violation::invalid(
        "/retryPolicy/maxAttempts",
        "retryPolicy.maxAttempts",
        format!(
            "{max_attempts} attempts of an external write without idempotency may write {max_attempts} times: \
             set the idempotency to `required` or `natural`, or allow 1 attempt"
        ),
    ))
}

pub(super) fn check_timeout(value: Option<&Value>, found: &mut Vec<Violation>) {
    integer(
        value,
        "/timeoutSeconds",
        "timeoutSeconds",
        (1, MAX_TIMEOUT_SECONDS),
        found,
    );
}

pub(super) fn check_retry(value: Option<&Value>, found: &mut Vec<Violation>) {
    let Some(value) = value.filter(|value| !is_empty(value)) else {
        return;
    };
    let Some(members) = value.as_object() else {
        let message = format!(
            "`retryPolicy` must be an object {{maxAttempts, backoffSeconds}}, not {}",
            kind(value)
        );
        found.push(Violation::invalid("/retryPolicy", "retryPolicy", message));
        return;
    };
    let known = ["maxAttempts", "backoffSeconds"];
    unknown_keys(
        members,
        &known,
        "/retryPolicy",
        "retryPolicy",
        "`retryPolicy`",
        found,
    );
    let attempts = members.get("maxAttempts");
    integer(
        attempts,
        "/retryPolicy/maxAttempts",
        "retryPolicy.maxAttempts",
        (1, MAX_ATTEMPTS),
        found,
    );
    let backoff = members.get("backoffSeconds");
    let range = (0, MAX_BACKOFF_SECONDS);
    integer(
        backoff,
        "/retryPolicy/backoffSeconds",
        "retryPolicy.backoffSeconds",
        range,
        found,
    );
}

pub(super) fn check_idempotency(value: Option<&Value>, found: &mut Vec<Violation>) {
    if let Some(value) = value {
        one_of(value, "idempotency", IDEMPOTENCY, found);
    }
}

pub(super) fn check_cost(value: Option<&Value>, found: &mut Vec<Violation>) {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return;
    };
    let wanted =
        "`costModel` is {unit: non-empty string, estimate: number from 0}, `estimate` may be left out";
    let mut broken = |pointer: String, problem: String| {
        found.push(Violation::invalid(
            pointer,
            "costModel",
            format!("{problem}: {wanted}"),
        ));
    };
    let Some(members) = value.as_object() else {
        broken("/costModel".to_owned(), format!("it is {}", kind(value)));
        return;
    };
    for key in members.keys().filter(|key| *key != "unit" && *key != "estimate") {
        broken(child("/costModel", key), format!("{key:?} is unknown"));
    }
    match members.get("unit") {
        Some(Value::String(unit)) if !unit.is_empty() => {}
        Some(unit) => broken("/costModel/unit".to_owned(), format!("`unit` is {}", shown(unit))),
        None => broken("/costModel/unit".to_owned(), "`unit` is missing".to_owned()),
    }
    if let Some(estimate) = members.get("estimate") {
        // Not a number compares as not fine.
        if !estimate.as_f64().is_some_and(|number| number >= 0.0) {
            broken(
                "/costModel/estimate".to_owned(),
                format!("`estimate` is {}", shown(estimate)),
            );
        }
    }
}

pub(super) fn check_conditions(contract: &Map<String, Value>, key: &'static str, found: &mut Vec<Violation>) {
    let pointer = child("", key);
    match contract.get(key) {
        None | Some(Value::Null) => {}
        Some(Value::Array(conditions)) if conditions.is_empty() => {}
        Some(Value::Array(conditions)) => found.push(Violation::error(
            code::UNSUPPORTED_SKILL_CONDITION,
            pointer,
            key,
            format!(
                "`{key}` has {} entries and cannot be published yet: there is no expression language for it; \
                 leave it empty and check inside the skill",
                conditions.len()
            ),
        )),
        Some(other) => {
            let message = format!("`{key}` must be a list, not {}", kind(other));
            found.push(Violation::invalid(pointer, key, message));
        }
    }
}

/// The idempotency of a contract with the default filled in; nothing when it is not a known one.
pub(super) fn idempotency_of(contract: &Value) -> Option<&str> {
    match contract.get("idempotency") {
        None => Some(DEFAULT_IDEMPOTENCY),
        Some(value) => value.as_str(),
    }
}

/// The attempts of a contract with the default filled in; nothing when they are not a positive integer.
pub(super) fn max_attempts_of(contract: &Value) -> Option<u64> {
    retry_member(contract, "maxAttempts", DEFAULT_ATTEMPTS)
}

/// A member of `retryPolicy` with the default filled in; nothing when it is not an integer.
pub(super) fn retry_member(contract: &Value, key: &str, default: u64) -> Option<u64> {
    let value = contract.get("retryPolicy").and_then(|retry| retry.get(key));
    value.map_or(Some(default), Value::as_u64)
}

/// Whether a value counts as not given where the platform takes any empty value for the default: `null`, `""`,
/// `[]`, `{}`.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn one_of(value: &Value, field: &'static str, allowed: &[&str], found: &mut Vec<Violation>) {
    if value.as_str().is_some_and(|text| allowed.contains(&text)) {
        return;
    }
    let message = format!(
        "`{field}` is {}: it must be one of {}",
        shown(value),
        allowed.join(", ")
    );
    found.push(Violation::invalid(child("", field), field, message));
}

/// An absent member means the default; anything else must be an integer: not `true`, `2.0`, `"2"` or `null`.
fn integer(
    value: Option<&Value>,
    pointer: &str,
    field: &'static str,
    (min, max): (u64, u64),
    found: &mut Vec<Violation>,
) {
    let Some(value) = value else { return };
    if value.as_u64().is_some_and(|number| (min..=max).contains(&number)) {
        return;
    }
    let message = format!(
        "`{field}` is {}: it must be an integer from {min} to {max}",
        shown(value)
    );
    found.push(Violation::invalid(pointer, field, message));
}
