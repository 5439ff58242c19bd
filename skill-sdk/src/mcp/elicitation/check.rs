//! Validation of answers: clients may send anything.

use serde_json::Value;

use crate::context::InputRequest;
use crate::validation::Schema;

/// Why `response` is not an answer to `request`. The reason repeats nothing of the response.
pub(super) fn validate(request: &InputRequest, response: &Value) -> Result<(), String> {
    let Some(members) = response.as_object() else {
        return Err("it is not an object".to_owned());
    };
    match request {
        InputRequest::Form { schema, .. } => match members.get("action").and_then(Value::as_str) {
            Some("decline" | "cancel") => Ok(()),
            Some("accept") => content(schema, members.get("content")),
            _ => Err("`action` must be `accept`, `decline` or `cancel`".to_owned()),
        },
        InputRequest::Sample { .. } => match members.get("content") {
            Some(Value::Object(_) | Value::Array(_)) => Ok(()),
            _ => Err("it has no `content`".to_owned()),
        },
        InputRequest::Roots => match members.get("roots") {
            Some(Value::Array(_)) => Ok(()),
            _ => Err("it has no array `roots`".to_owned()),
        },
    }
}

fn content(schema: &Value, content: Option<&Value>) -> Result<(), String> {
    let empty = Value::Object(serde_json::Map::new());
    let content = content.unwrap_or(&empty);
    if !content.is_object() {
        return Err("`content` is not an object".to_owned());
    }
    let schema = Schema::compile(schema).map_err(|reason| format!("the form is not a schema: {reason}"))?;
    schema.validate_value(content).map_err(|invalid| {
        let violations = invalid.into_violations();
        let paths: Vec<_> = violations.iter().take(5).map(|one| one.path.as_str()).collect();
        format!("`content` is not valid at {}", paths.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_and_what_is_none() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let message = String::new();
        let form = InputRequest::Form { message, schema };
        let sample = InputRequest::Sample {
            prompt: String::new(),
            max_tokens: 1,
        };
        for (request, response, good) in [
            (&form, json!({"action": "accept", "content": {"n": 1}}), true),
            (&form, json!({"action": "decline"}), true),
            (&form, json!({"action": "cancel", "content": null}), true),
            (&form, json!({"action": "accept", "content": {"n": "1"}}), false),
            (&form, json!({"action": "accept", "content": {}}), false),
            (&form, json!({"action": "accept"}), false),
            (&form, json!({"action": "accept", "content": []}), false),
            (&form, json!({"content": {"n": 1}}), false),
            (&form, json!(12345), false),
            (
                &sample,
                json!({"role": "assistant", "content": {"type": "text", "text": ""}}),
                true,
            ),
            (&sample, json!({"role": "assistant"}), false),
            (&InputRequest::Roots, json!({"roots": []}), true),
            (&InputRequest::Roots, json!({"roots": {}}), false),
        ] {
            assert_eq!(validate(request, &response).is_ok(), good, "{response}");
        }
    }
}
