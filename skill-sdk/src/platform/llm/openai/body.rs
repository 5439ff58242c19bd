//! The body of a request.

use serde_json::{Value, json};

use super::form::Form;
use crate::platform::llm::model::{Correction, Prompt};

pub(super) fn of(model: &str, prompt: &Prompt, form: Form) -> Value {
    let schema = prompt.schema.as_ref().filter(|_| !form.no_schema);
    let mut system = prompt.system_prompt.clone();
    let response_format = match schema {
        Some(schema) => json!({
            "type": "json_schema",
            "json_schema": {"name": schema.name, "schema": schema.schema},
        }),
        None => {
            if !system.is_empty() {
                system.push_str("\n\n");
            }
            system.push_str(&prompt.format_in_words());
            json!({"type": "json_object"})
        }
    };
    let mut body = json!({
        "model": model,
        "messages": messages(prompt, &system),
        "response_format": response_format,
    });
    if !form.no_temperature {
        body["temperature"] = prompt.temperature.into();
    }
    if let Some(limit) = prompt.max_tokens {
        let name = if form.completion_tokens {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        body[name] = limit.into();
    }
    body
}

fn messages(prompt: &Prompt, system: &str) -> Vec<Value> {
    let message = |role: &str, content: &str| json!({"role": role, "content": content});
    let mut messages = Vec::new();
    if !system.is_empty() {
        messages.push(message("system", system));
    }
    messages.extend(
        prompt
            .messages
            .iter()
            .map(|said| message(said.role.as_str(), &said.content)),
    );
    if let Some(Correction { answer, why }) = &prompt.correction {
        messages.push(message("assistant", answer));
        let request = format!("The last answer was not accepted: {why}. Give the corrected JSON object.");
        messages.push(message("user", &request));
    }
    messages
}
