//! What is sent.

use serde_json::{Value, json};

use super::form::{Form, Format};
use crate::platform::llm::model::{Correction, Prompt};

/// The body of a request.
pub(super) fn of(model: &str, prompt: &Prompt, form: Form) -> Value {
    let format = form.format_for(prompt);
    let mut body = json!({"model": model, "messages": messages(prompt, format)});
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
    match (format, &prompt.schema) {
        (Format::Schema, Some(schema)) => {
            let json_schema = json!({
                "name": schema.name,
                "strict": schema.strict.is_some(),
                "schema": schema.strict.as_ref().unwrap_or(&schema.schema),
            });
            body["response_format"] = json!({"type": "json_schema", "json_schema": json_schema});
        }
        (Format::Schema | Format::Object, _) => body["response_format"] = json!({"type": "json_object"}),
        (Format::Words, _) => {}
    }
    body
}

fn messages(prompt: &Prompt, format: Format) -> Vec<Value> {
    let message = |role: &str, content: &str| json!({"role": role, "content": content});
    let mut messages = Vec::with_capacity(prompt.messages.len() + 3);
    let system = match format {
        Format::Schema => prompt.system_prompt.clone(),
        Format::Object | Format::Words => in_words(prompt),
    };
    if !system.is_empty() {
        messages.push(message("system", &system));
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

/// The instructions with what the answer must be.
fn in_words(prompt: &Prompt) -> String {
    let format = prompt.format_in_words();
    if prompt.system_prompt.is_empty() {
        format
    } else {
        format!("{}\n\n{format}", prompt.system_prompt)
    }
}
