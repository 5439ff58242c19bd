//! What is written to the tool.

use crate::platform::llm::model::{Correction, Prompt};
use crate::platform::llm::request::Role;

/// The whole prompt as one text in sections.
pub(super) fn render(prompt: &Prompt) -> String {
    let mut text = format!("# Instructions\n\n{}", prompt.system);
    for message in &prompt.messages {
        let title = match message.role {
            Role::User => "Message",
            Role::Assistant => "Earlier answer",
        };
        text.push_str(&format!("\n\n# {title}\n\n{}", message.content));
    }
    text.push_str("\n\n# Format of the answer\n\n");
    match &prompt.schema {
        Some(schema) => text.push_str(&format!(
            "Answer with one JSON object that fits the JSON Schema below, without any text before or after it:\n{}",
            schema.schema
        )),
        None => text.push_str("Answer with one JSON object, without any text before or after it."),
    }
    if let Some(Correction { why, .. }) = &prompt.correction {
        text.push_str(&format!(
            "\n\n# Correction\n\nThe last answer was not accepted: {why}. Give the corrected JSON object."
        ));
    }
    text
}
