//! Policy: side effects, risk, timeout, retries, idempotency, cost, conditions.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::contract::{broken, unknown_keys};
use super::violation::{Violation, code};
use crate::policy::{Idempotency, Risk, SideEffects};
use crate::rules::{ATTEMPTS, BACKOFF_SECONDS, TIMEOUT_SECONDS, safe_retries};
use crate::text::{child, kind, shown};

/// What the platform fills in for an absent member of the contract.
pub(super) const DEFAULT_ATTEMPTS: u64 = 1;
pub(super) const DEFAULT_IDEMPOTENCY: &str = "none";

/// Validates the columns `sideEffects` and `riskLevel` of a spec.
pub(super) fn check_columns(side_effects: &Value, risk_level: &Value, found: &mut Vec<Violation>) {
    one_of(side_effects, "sideEffects", SideEffects::WORDS, found);
    one_of(risk_level, "riskLevel", Risk::WORDS, found);
}

/// Validates that a repeated attempt cannot become a second external effect.
pub(super) fn check_retries_of(contract: &Value, side_effects: &str) -> Option<Violation> {
    let idempotency = match contract.get("idempotency") {
        None => DEFAULT_IDEMPOTENCY,
        Some(value) => value.as_str()?,
    };
    let attempts = retry_member(contract, "maxAttempts", DEFAULT_ATTEMPTS)?;
    let rule = safe_retries(side_effects, idempotency, attempts);
    broken(rule, "/retryPolicy/maxAttempts", "retryPolicy.maxAttempts")
}

/// Validates the policy in a contract, in the platform's order.
pub(super) fn check(contract: &Map<String, Value>, found: &mut Vec<Violation>) {
    let timeout = contract.get("timeoutSeconds");
    integer(timeout, "timeoutSeconds", &TIMEOUT_SECONDS, found);
    check_retry(contract.get("retryPolicy"), found);
    if let Some(value) = contract.get("idempotency") {
        one_of(value, "idempotency", Idempotency::WORDS, found);
    }
    check_cost(contract.get("costModel"), found);
    check_conditions(contract, "preconditions", found);
    check_conditions(contract, "postconditions", found);
}

fn check_retry(value: Option<&Value>, found: &mut Vec<Violation>) {
    let Some(value) = value.filter(|value| !is_empty(value)) else {
        return;
    };
    let (pointer, field) = ("/retryPolicy", "retryPolicy");
    let Some(members) = value.as_object() else {
        let message = format!(
            "`retryPolicy` must be an object {{maxAttempts, backoffSeconds}}, not {}",
            kind(value)
        );
        found.push(Violation::invalid(pointer, field, message));
        return;
    };
    let known = ["maxAttempts", "backoffSeconds"];
    unknown_keys(members, &known, pointer, field, "`retryPolicy`", found);
    let attempts = members.get("maxAttempts");
    integer(attempts, "retryPolicy.maxAttempts", &ATTEMPTS, found);
    let backoff = members.get("backoffSeconds");
    integer(backoff, "retryPolicy.backoffSeconds", &BACKOFF_SECONDS, found);
}

fn check_cost(value: Option<&Value>, found: &mut Vec<Violation>) {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return;
    };
    let mut broken = |pointer: String, problem: String| {
        let wanted =
            "`costModel` is {unit: non-empty string, estimate: number from 0}, `estimate` may be left out";
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

fn check_conditions(contract: &Map<String, Value>, key: &'static str, found: &mut Vec<Violation>) {
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
    field: &'static str,
    range: &RangeInclusive<u32>,
    found: &mut Vec<Violation>,
) {
    let Some(value) = value else { return };
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    if number.is_some_and(|number| range.contains(&number)) {
        return;
    }
    let message = format!(
        "`{field}` is {}: it must be an integer from {} to {}",
        shown(value),
        range.start(),
        range.end()
    );
    found.push(Violation::invalid(
        format!("/{}", field.replace('.', "/")),
        field,
        message,
    ));
}
