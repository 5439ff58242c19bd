//! The failures of connections.

use serde_json::json;

use crate::error::SkillError;

pub(super) fn not_found(key: &str) -> SkillError {
    let message = format!(
        "this agent has no connection {key}: its description does not name it, or it was never created"
    );
    SkillError::terminal("connection_not_found", message).with_details(json!({"connection": key}))
}

/// The core answered with another connection than the one that was asked for.
pub(super) fn other_connection(key: &str) -> SkillError {
    let message = format!("the core answered with another connection than {key}");
    SkillError::terminal("core_error", message)
}

pub(super) fn impossible_key(key: &str) -> SkillError {
    let message = format!(
        "no connection can have the key `{}`; keys are lower-case letters, digits and `-`, at most 63",
        key.escape_debug()
    );
    SkillError::terminal("connection_not_found", message).with_details(json!({"connection": key}))
}

pub(super) fn expired(key: &str, reason: Option<&str>) -> SkillError {
    let message = format!("the access of the connection {key} is lost: it has to be connected again");
    let details = match reason {
        Some(reason) => json!({"connection": key, "reason": reason}),
        None => json!({"connection": key}),
    };
    SkillError::terminal("connection_expired", message).with_details(details)
}

pub(super) fn agent_identity_missing() -> SkillError {
    SkillError::terminal(
        "agent_identity_missing",
        "the core does not say which principal this agent is, so there is no role for the secret store; set SKILL_SDK_SECRET_STORE_ROLE",
    )
}

pub(super) fn iam_missing() -> SkillError {
    SkillError::retryable(
        "config_missing",
        "the host has no identity for the secret store: set CONTROL_PLANE_IAM_URL; a key of the core is not enough",
    )
    .with_details(json!({"config": "CONTROL_PLANE_IAM_URL"}))
}

/// The store gives nothing, for `reason`.
pub(super) fn store(reason: &str, message: impl Into<String>) -> SkillError {
    SkillError::retryable("secret_store_unavailable", message).with_details(json!({"reason": reason}))
}

pub(super) fn access_not_granted(key: &str) -> SkillError {
    let message = format!("the secret store does not hand out the material of the connection {key} yet");
    SkillError::retryable("secret_store_unavailable", message)
        .with_details(json!({"reason": "access_not_granted", "connection": key}))
}

/// The store answered with the status `status`, which says nothing about one connection.
pub(super) fn store_status(status: u16) -> SkillError {
    if status == 503 {
        return store("sealed_or_standby", "the secret store is sealed or not ready");
    }
    let message = format!("the secret store answered {status}");
    store(&format!("status_{status}"), message)
}
