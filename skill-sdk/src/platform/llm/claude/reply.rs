//! What the tool says.

use std::borrow::Cow;
use std::process::ExitStatus;

use serde_json::{Map, Value};

use super::process::Finished;
use crate::contract::json;
use crate::environment::Secret;
use crate::error::SkillError;
use crate::platform::LlmUsage;
use crate::platform::llm::model::{ChatError, Reply};

/// The longest text of the tool that is repeated, in characters.
const MAX_DETAIL: usize = 500;

/// What the tool is called where it does not say which model it asked.
const MODEL: &str = "claude-code";

/// Words by which the tool tells that a limit of the subscription is reached.
const LIMITS: &[&str] = &[
    "usage limit",
    "limit reached",
    "rate limit",
    "rate-limit",
    "rate_limit",
    "ratelimit",
    "hour limit",
    "weekly limit",
    "session limit",
    "too many requests",
    "overloaded",
    "quota",
];

/// The answer of a child that ended.
pub(super) fn read(model: &str, finished: Finished, token: Option<&Secret>) -> Result<Reply, ChatError> {
    let Finished {
        status,
        output,
        errors,
    } = finished;
    let document = match json::parse(&output) {
        Ok(Value::Object(document)) => Some(document),
        _ => None,
    };
    let usage = document
        .as_ref()
        .map(|document| usage(model, document))
        .unwrap_or_default();
    match &document {
        Some(document) if status.success() && document.get("is_error") != Some(&Value::Bool(true)) => {
            let text = document.get("result").and_then(Value::as_str).unwrap_or_default();
            Ok(Reply::new(text, usage))
        }
        _ => {
            let errors = String::from_utf8_lossy(&errors);
            let error = failure(status, document.as_ref(), &errors, token);
            Err(ChatError::last(error).usage(usage))
        }
    }
}

fn failure(
    status: ExitStatus,
    document: Option<&Map<String, Value>>,
    errors: &str,
    token: Option<&Secret>,
) -> SkillError {
    let member = |name: &str| document.and_then(|document| document.get(name));
    let result = member("result")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .trim();
    let detail = if result.is_empty() { errors.trim() } else { result };
    let limited = member("api_error_status").and_then(Value::as_u64) == Some(429) || tells_a_limit(detail);
    // A result that is no error is the model's answer, and belongs into no message.
    let shown = if member("is_error") == Some(&Value::Bool(true)) {
        detail
    } else {
        errors.trim()
    };
    let shown = match shown_to_callers(shown, token) {
        shown if shown.is_empty() => shown,
        shown => format!(": {shown}"),
    };
    if limited {
        let message = format!("Claude Code takes no more requests for now{shown}");
        return SkillError::retryable("llm_rate_limited", message);
    }
    let end = match status.code() {
        Some(code) => format!("exit code {code}"),
        None => "killed by a signal".to_owned(),
    };
    SkillError::retryable("llm_failed", format!("Claude Code failed ({end}){shown}"))
}

fn tells_a_limit(detail: &str) -> bool {
    let detail = detail.to_lowercase();
    let numbers = detail.split(|c: char| !c.is_alphanumeric());
    LIMITS.iter().any(|words| detail.contains(words)) || numbers.into_iter().any(|number| number == "429")
}

/// A text of the tool, cut, without the token.
fn shown_to_callers(detail: &str, token: Option<&Secret>) -> String {
    let detail = match token {
        Some(token) => Cow::Owned(detail.replace(token.expose(), "***")),
        None => Cow::Borrowed(detail),
    };
    detail.chars().take(MAX_DETAIL).collect()
}

fn usage(model: &str, document: &Map<String, Value>) -> LlmUsage {
    let usage = document.get("usage");
    let tokens = |name: &str| {
        usage
            .and_then(|usage| usage.get(name)?.as_u64())
            .unwrap_or_default()
    };
    let prompt_tokens = [
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
    ]
    .into_iter()
    .map(tokens)
    .fold(0, u64::saturating_add);
    let completion_tokens = tokens("output_tokens");
    let named = document
        .get("modelUsage")
        .and_then(|models| models.as_object()?.keys().next());
    let model = match named {
        Some(named) => named,
        None if model.is_empty() => MODEL,
        None => model,
    };
    LlmUsage {
        model: model.to_owned(),
        prompt_tokens,
        completion_tokens,
        total_tokens: prompt_tokens.saturating_add(completion_tokens),
        // A subscription has no price for one answer.
        cost_usd: None,
    }
}
