//! What the answers of the core that are no success become.

use serde_json::Value;

use crate::error::{SkillError, is_valid_code};

/// The most characters of a message of the core that are passed on.
const MAX_MESSAGE: usize = 500;

/// The most bytes of details of the core that are passed on.
const MAX_DETAILS: usize = 16 * 1024;

/// The core answered with the status `status`, and perhaps with the envelope `{"error": {code, message, details}}`.
///
/// `secret` is what the request carried: a message or details with it in them are not passed on.
pub(super) fn of_core(status: u16, envelope: Option<&Value>, secret: &str) -> SkillError {
    let error = envelope.map_or(&Value::Null, |envelope| &envelope["error"]);
    let mut message = format!("the core answered {status}");
    let said = error["message"].as_str().unwrap_or_default();
    if !said.is_empty() && !said.contains(secret) {
        message.push_str(": ");
        message.extend(said.chars().take(MAX_MESSAGE));
    }
    let failure = match error["code"].as_str().filter(|code| is_valid_code(code)) {
        _ if status >= 500 || status == 429 => SkillError::retryable("core_unavailable", message),
        Some(code) => SkillError::terminal(code.to_owned(), message),
        None => {
            if status == 404 {
                message.push_str("; is CONTROL_PLANE_URL its address, without /api/v1?");
            }
            SkillError::terminal("core_error", message)
        }
    };
    let details = &error["details"];
    let text = details.to_string();
    if details.is_null() || text.len() > MAX_DETAILS || text.contains(secret) {
        failure
    } else {
        failure.with_details(details.clone())
    }
}

/// The core answered with success and something that is not understood.
pub(super) fn malformed(what: &str) -> SkillError {
    SkillError::terminal(
        "core_error",
        format!("the answer of the core is not understood: {what}"),
    )
}
