//! The failures of connections.

use serde_json::json;

use super::super::core::Failure;

/// How much of a status that is not known is repeated, in characters.
const MAX_STATUS: usize = 60;

pub(super) fn not_found(key: &str) -> Failure {
    let message = format!(
        "this agent has no connection {key}: its description does not name it, or nobody has made it"
    );
    Failure::terminal("connection_not_found", message).with_details(json!({"connection": key}))
}

/// The core answered with another connection than the one that was asked for.
pub(super) fn other_connection(key: &str) -> Failure {
    let message = format!("the core answered with another connection than {key}");
    Failure::terminal("core_error", message)
}

pub(super) fn impossible_key(key: &str) -> Failure {
    let message = format!(
        "no connection can have the key `{}`; keys are lower-case letters, digits and `-`, at most 63",
        key.escape_debug()
    );
    Failure::terminal("connection_not_found", message).with_details(json!({"connection": key}))
}

pub(super) fn pending(key: &str) -> Failure {
    let message = format!("the connection {key} is not connected yet");
    Failure::terminal("connection_pending", message).with_details(json!({"connection": key}))
}

pub(super) fn revoked(key: &str) -> Failure {
    let message = format!("the connection {key} was revoked: it has to be connected anew");
    Failure::terminal("connection_revoked", message).with_details(json!({"connection": key}))
}

pub(super) fn expired(key: &str, reason: Option<&str>) -> Failure {
    let message = format!("the access of the connection {key} is lost: it has to be connected again");
    let details = match reason {
        Some(reason) => json!({"connection": key, "reason": reason}),
        None => json!({"connection": key}),
    };
    Failure::terminal("connection_expired", message).with_details(details)
}

pub(super) fn unknown_status(key: &str, status: &str) -> Failure {
    let status: String = status.escape_debug().take(MAX_STATUS).collect();
    let message = format!("the connection {key} has the status `{status}`, which is not known here");
    Failure::terminal("core_error", message)
}

pub(super) fn secret_ref_invalid() -> Failure {
    Failure::terminal(
        "secret_ref_invalid",
        "the core names a place for the connection's material that is not among those of connections",
    )
}

pub(super) fn material_malformed() -> Failure {
    Failure::terminal(
        "secret_material_malformed",
        "the document in the secret store has no `access_token`",
    )
}

pub(super) fn agent_identity_missing() -> Failure {
    Failure::terminal(
        "agent_identity_missing",
        "the core does not say which principal this agent is, so there is no role for the secret store; set SKILL_SDK_SECRET_STORE_ROLE",
    )
}

pub(super) fn iam_missing() -> Failure {
    Failure::retryable(
        "config_missing",
        "the host has no identity for the secret store: set CONTROL_PLANE_IAM_URL; a key of the core is not enough",
    )
    .with_details(json!({"config": "CONTROL_PLANE_IAM_URL"}))
}

/// The store gives nothing, for `reason`.
pub(super) fn store(reason: &str, message: impl Into<String>) -> Failure {
    Failure::retryable("secret_store_unavailable", message).with_details(json!({"reason": reason}))
}

pub(super) fn access_not_granted(key: &str) -> Failure {
    let message = format!("the secret store does not hand out the material of the connection {key} yet");
    Failure::retryable("secret_store_unavailable", message)
        .with_details(json!({"reason": "access_not_granted", "connection": key}))
}

/// The store answered with the status `status`, which says nothing about one connection.
pub(super) fn store_status(status: u16) -> Failure {
    if status == 503 {
        store("sealed_or_standby", "the secret store is sealed or not ready")
    } else {
        store(
            &format!("status_{status}"),
            format!("the secret store answered {status}"),
        )
    }
}
