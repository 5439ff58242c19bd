//! Policy: side effects, risk, permissions, timeout, retries, idempotency, cost, conditions.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::violation::{Found, Violation, code, pointer_of};
use crate::policy::{Idempotency, Risk, SideEffects};
use crate::rules::{self, ATTEMPTS, BACKOFF_SECONDS, TIMEOUT_SECONDS, safe_retries};
use crate::text::{kind, quoted, shown};

/// What the platform fills in for an absent field of the contract.
pub(super) const DEFAULT_ATTEMPTS: u64 = 1;
pub(super) const DEFAULT_IDEMPOTENCY: &str = "none";

/// The permissions that platforms are known to have. The list grows on their side, so any other name of the right shape is
/// only a warning.
pub(super) const KNOWN_PERMISSIONS: &str = "\
    admin agents.manage agents.read agents.secrets.manage agents.status.write approvals.decide \
    approvals.manage approvals.read artifact_types.manage artifact_types.read artifacts.read artifacts.write \
    calendars.write claims.manage connections.manage connections.read connections.status.write \
    delegations.manage events.export events.read goals.read goals.write knowledge.packs.manage \
    observations.write operations.manage operations.read org.manage org.read packages.plan \
    packages.settings.manage packages.settings.read packages.test principals.read principals.write \
    processes.operate processes.read processes.write project_templates.manage project_templates.read \
    projects.manage projects.read rules.read rules.write sessions.manage sessions.open skills.execute \
    skills.invoke task_types.manage task_types.read tasks.claim tasks.read tasks.write workspaces.manage \
    workspaces.read";

/// Validates the columns `sideEffects` and `riskLevel` of a spec.
pub(super) fn check_columns(spec: &Map<String, Value>, found: &mut Found) {
    for (key, words) in [("sideEffects", SideEffects::WORDS), ("riskLevel", Risk::WORDS)] {
        one_of(spec.get(key).unwrap_or(&Value::Null), key, words, found);
    }
}

/// Validates that a repeated attempt cannot become a second external effect.
pub(super) fn check_retries_of(contract: &Value, side_effects: &str, found: &mut Found) {
    let idempotency = match contract.get("idempotency") {
        None => Some(DEFAULT_IDEMPOTENCY),
        Some(value) => value.as_str(),
    };
    let attempts = retry_member(contract, "maxAttempts", DEFAULT_ATTEMPTS);
    if let (Some(idempotency), Some(attempts)) = (idempotency, attempts) {
        let rule = safe_retries(side_effects, idempotency, attempts);
        found.rule(rule, "retryPolicy.maxAttempts");
    }
}

/// Validates the policy in a contract, in the platform's order.
pub(super) fn check(contract: &Map<String, Value>, found: &mut Found) {
    let given = |key: &str| contract.get(key).filter(|value| !is_empty(value));
    if let Some(permissions) = given("requiredPermissions") {
        check_permissions(permissions, found);
    }
    integer(contract, "timeoutSeconds", &TIMEOUT_SECONDS, found);
    if let Some(retry) = given("retryPolicy")
        && let Some(members) = found.object(retry, "retryPolicy")
    {
        found.unknown_keys(members, &["maxAttempts", "backoffSeconds"], "retryPolicy");
        integer(members, "retryPolicy.maxAttempts", &ATTEMPTS, found);
        integer(members, "retryPolicy.backoffSeconds", &BACKOFF_SECONDS, found);
    }
    if let Some(value) = contract.get("idempotency") {
        one_of(value, "idempotency", Idempotency::WORDS, found);
    }
    if let Some(cost) = contract.get("costModel").filter(|value| !value.is_null()) {
        check_cost(cost, found);
    }
    for key in ["preconditions", "postconditions"] {
        if let Some(value) = contract.get(key).filter(|value| !value.is_null())
            && let Some(conditions) = found.array(value, key)
            && !conditions.is_empty()
        {
            let message = format!(
                "`{key}` has {} entries and cannot be published yet: there is no expression language for it; leave it \
                 empty and check inside the skill",
                conditions.len()
            );
            let code = code::UNSUPPORTED_SKILL_CONDITION;
            found
                .0
                .push(Violation::error(code, pointer_of(key), key, message));
        }
    }
}

fn check_permissions(value: &Value, found: &mut Found) {
    let field = "requiredPermissions";
    for (index, item) in found.array(value, field).into_iter().flatten().enumerate() {
        let pointer = format!("/requiredPermissions/{index}");
        match item.as_str().map(|name| (name, rules::permission(name))) {
            None => found.invalid(
                pointer,
                field,
                format!("a permission must be a string, not {}", kind(item)),
            ),
            Some((_, Err(reason))) => found.invalid(pointer, field, reason),
            Some((name, Ok(()))) if !KNOWN_PERMISSIONS.split(' ').any(|known| known == name) => {
                let message = format!(
                    "the permission {} is not on the list that this SDK knows: if it is not new on the platform, it is a \
                     typing error and publication rejects it",
                    quoted(name)
                );
                found.0.push(Violation::warning(pointer, field, message));
            }
            Some(_) => {}
        }
    }
}

fn check_cost(value: &Value, found: &mut Found) {
    let field = "costModel";
    let Some(members) = found.object(value, field) else {
        return;
    };
    found.unknown_keys(members, &["unit", "estimate"], field);
    let unit = members.get("unit").unwrap_or(&Value::Null);
    if unit.as_str().is_none_or(str::is_empty) {
        let message = format!(
            "`unit` of `costModel` must be a non-empty string, not {}",
            shown(unit)
        );
        found.invalid("/costModel/unit", field, message);
    }
    if let Some(estimate) = members.get("estimate")
        // Not a number compares as not fine.
        && !estimate.as_f64().is_some_and(|number| number >= 0.0)
    {
        let message = format!(
            "`estimate` of `costModel` must be a number from 0, not {}",
            shown(estimate)
        );
        found.invalid("/costModel/estimate", field, message);
    }
}

/// A field of `retryPolicy` with the default filled in; nothing when it is not an integer.
pub(super) fn retry_member(contract: &Value, key: &str, default: u64) -> Option<u64> {
    let value = contract.get("retryPolicy").and_then(|retry| retry.get(key));
    value.map_or(Some(default), Value::as_u64)
}

/// Whether a value counts as not given where the platform takes any empty value for the default: `null`, `""`,
/// `[]`, `{}`.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn one_of(value: &Value, field: &'static str, allowed: &[&str], found: &mut Found) {
    if !value.as_str().is_some_and(|text| allowed.contains(&text)) {
        let (is, words) = (shown(value), allowed.join(", "));
        found.invalid_field(field, format!("`{field}` is {is}: it must be one of {words}"));
    }
}

/// The field that the last part of `field` names. When it is absent it means the default; anything else must be an
/// integer: not `true`, `2.0`, `"2"` or `null`.
fn integer(
    members: &Map<String, Value>,
    field: &'static str,
    range: &RangeInclusive<u32>,
    found: &mut Found,
) {
    let key = field.rsplit('.').next().unwrap_or(field);
    let Some(value) = members.get(key) else { return };
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    if !number.is_some_and(|number| range.contains(&number)) {
        let (is, least, most) = (shown(value), range.start(), range.end());
        let message = format!("`{field}` is {is}: it must be an integer from {least} to {most}");
        found.invalid_field(field, message);
    }
}
