//! Reads the response of a server that is not trusted.

use serde_json::Value;

use crate::contract::json;
use crate::environment::Secret;
use crate::error::SkillError;
use crate::platform::LlmUsage;
use crate::platform::llm::model::{ChatError, Reply};

/// The longest error code of a server in a message, in bytes.
const MAX_WORD: usize = 60;

/// The longest name of a model in a response, in characters.
const MAX_MODEL: usize = 200;

/// The reply in the body of a success.
pub(super) fn read(model: &str, body: &[u8], key: &Secret) -> Result<Reply, ChatError> {
    let Ok(document) = json::parse(body) else {
        return Err(failed(model, "the response is not JSON"));
    };
    let usage = usage(model, &document, key);
    if document.get("choices").is_none() {
        // Some servers report a failure with the status of a success.
        let rejected = Rejected::new(200, &document, key);
        return Err(rejected.into_error(model).usage(usage));
    }
    let choice = &document["choices"][0];
    let message = &choice["message"];
    if message["refusal"]
        .as_str()
        .is_some_and(|refusal| !refusal.is_empty())
    {
        return Err(unusable(model, "it declined to reply").usage(usage));
    }
    match text(&message["content"]) {
        Some(text) => Ok(Reply::new(text, usage)),
        None if choice["finish_reason"] == "content_filter" => {
            Err(unusable(model, "the reply was filtered").usage(usage))
        }
        // The re-prompt asks for a JSON object.
        None => Ok(Reply::new(String::new(), usage)),
    }
}

/// The text of a message: a string, or a list of parts.
fn text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let texts: Vec<_> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
            (!texts.is_empty()).then(|| texts.concat())
        }
        _ => None,
    }
}

fn usage(model: &str, document: &Value, key: &Secret) -> LlmUsage {
    let usage = &document["usage"];
    let tokens = |name: &str| usage[name].as_u64().unwrap_or_default();
    let (prompt_tokens, completion_tokens) = (tokens("prompt_tokens"), tokens("completion_tokens"));
    let named = document["model"]
        .as_str()
        .filter(|name| !name.is_empty() && name.chars().count() <= MAX_MODEL)
        .filter(|name| !name.contains(key.expose()));
    let price = |name: &str| {
        usage[name]
            .as_f64()
            .filter(|price| price.is_finite() && *price >= 0.0)
    };
    LlmUsage {
        model: named.unwrap_or(model).to_owned(),
        prompt_tokens,
        completion_tokens,
        total_tokens: usage["total_tokens"]
            .as_u64()
            .unwrap_or_else(|| prompt_tokens.saturating_add(completion_tokens)),
        cost_usd: price("cost_usd").or_else(|| price("cost")),
    }
}

/// A response that is not a success. Texts of the server are left out: they may contain the prompt or the key.
pub(super) struct Rejected {
    pub(super) status: u16,
    code: Option<String>,
    /// The part of the request that is rejected.
    pub(super) param: Option<String>,
}

impl Rejected {
    pub(super) fn new(status: u16, document: &Value, key: &Secret) -> Self {
        let error = &document["error"];
        // Some servers send the status of a failure as the code, with status 200.
        let told = error["code"].as_u64().filter(|code| (300..1000).contains(code));
        let status = match told.and_then(|code| u16::try_from(code).ok()) {
            Some(told) if (200..300).contains(&status) => told,
            _ => status,
        };
        Self {
            status,
            code: word(&error["code"], key).or_else(|| word(&error["type"], key)),
            param: word(&error["param"], key),
        }
    }

    /// The failure of the model.
    pub(super) fn into_error(self, model: &str) -> ChatError {
        let word = self.code.map(|code| format!(" ({code})")).unwrap_or_default();
        let param = self.param.map(|param| format!(" about `{param}`"));
        let param = param.unwrap_or_default();
        let status = self.status;
        match status {
            429 => {
                let message = format!("the model {model} is rate limited{word}");
                ChatError::next(SkillError::retryable("llm_rate_limited", message))
            }
            401 => {
                let message = format!("the model's server rejected SKILL_LLM_API_KEY{word}");
                ChatError::last(SkillError::retryable("llm_failed", message))
            }
            200..=299 => failed(model, &format!("the response has no `choices`{word}")),
            300..=399 => failed(
                model,
                &format!("status {status}; redirects are not followed, check SKILL_LLM_BASE_URL"),
            ),
            404 => failed(
                model,
                &format!(
                    "status 404{word}{param}; check SKILL_LLM_BASE_URL and the name of the model in SKILL_LLM_MODELS"
                ),
            ),
            _ => failed(model, &format!("status {status}{word}{param}")),
        }
    }
}

fn failed(model: &str, why: &str) -> ChatError {
    let message = format!("the model {model} failed: {why}");
    ChatError::next(SkillError::retryable("llm_failed", message))
}

/// The failure of a model whose reply cannot be used.
fn unusable(model: &str, why: &str) -> ChatError {
    let message = format!("no model gave valid JSON ({model}: {why})");
    ChatError::next(SkillError::retryable("llm_invalid_response", message))
}

/// An error code of a server that is safe in a message. Other texts may contain the prompt or the key.
fn word(value: &Value, key: &Secret) -> Option<String> {
    let safe = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'.' | b'-');
    let text = value.as_str()?;
    let safe = !text.is_empty() && text.len() <= MAX_WORD && text.bytes().all(safe);
    (safe && !text.contains(key.expose())).then(|| text.to_owned())
}
