//! Reads the output of the CLI.

use std::process::{ExitStatus, Output};

use serde_json::Value;

use crate::contract::json;
use crate::environment::Secret;
use crate::error::SkillError;
use crate::platform::LlmUsage;
use crate::platform::llm::model::{ChatError, Reply};

/// The longest text of the CLI in a message, in characters.
const MAX_DETAIL: usize = 500;

/// The name of the model if the output does not contain it.
const MODEL: &str = "claude-code";

/// Words in the output when a limit of the subscription is reached.
const LIMITS: &[&str] = &["limit", "too many requests", "overloaded", "quota"];

/// The reply of a child process that ended.
pub(super) fn read(model: &str, finished: &Output, token: Option<&Secret>) -> Result<Reply, ChatError> {
    let document = json::parse(&finished.stdout).unwrap_or_default();
    let usage = usage(model, &document);
    if document.is_object() && finished.status.success() && document["is_error"] != true {
        let text = document["result"].as_str().unwrap_or_default();
        return Ok(Reply::new(text, usage));
    }
    let errors = String::from_utf8_lossy(&finished.stderr);
    let error = failure(finished.status, &document, errors.trim(), token);
    Err(ChatError::last(error).usage(usage))
}

fn failure(status: ExitStatus, document: &Value, errors: &str, token: Option<&Secret>) -> SkillError {
    let result = document["result"].as_str().unwrap_or_default().trim();
    let detail = if result.is_empty() { errors } else { result };
    let limited = document["api_error_status"] == 429 || mentions_a_limit(detail);
    // A result without `is_error` is the model's reply, which must not be in a message.
    let shown = if document["is_error"] == true {
        detail
    } else {
        errors
    };
    let mut shown = shown_to_callers(shown, token);
    if !shown.is_empty() {
        shown.insert_str(0, ": ");
    }
    if limited {
        let message = format!("Claude Code is rate limited{shown}");
        return SkillError::retryable("llm_rate_limited", message);
    }
    let end = match status.code() {
        Some(code) => format!("exit code {code}"),
        None => "killed by a signal".to_owned(),
    };
    SkillError::retryable("llm_failed", format!("Claude Code failed ({end}){shown}"))
}

fn mentions_a_limit(detail: &str) -> bool {
    let detail = detail.to_lowercase();
    let numbers = detail.split(|c: char| !c.is_alphanumeric());
    LIMITS.iter().any(|words| detail.contains(words)) || numbers.into_iter().any(|number| number == "429")
}

/// A text of the CLI, cut, without the token.
fn shown_to_callers(detail: &str, token: Option<&Secret>) -> String {
    let detail = match token {
        Some(token) => detail.replace(token.expose(), "***"),
        None => detail.to_owned(),
    };
    detail.chars().take(MAX_DETAIL).collect()
}

fn usage(model: &str, document: &Value) -> LlmUsage {
    let tokens = |name: &str| document["usage"][name].as_u64().unwrap_or_default();
    let prompt = tokens("input_tokens")
        .saturating_add(tokens("cache_creation_input_tokens"))
        .saturating_add(tokens("cache_read_input_tokens"));
    let named = document["modelUsage"]
        .as_object()
        .and_then(|models| models.keys().next());
    let model = if model.is_empty() { MODEL } else { model };
    // A subscription has no price per reply.
    LlmUsage::new(named.map_or(model, String::as_str)).tokens(prompt, tokens("output_tokens"))
}
