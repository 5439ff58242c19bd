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
    text.push_str(&format!(
        "\n\n# Format of the answer\n\n{}",
        prompt.format_in_words()
    ));
    if let Some(Correction { why, .. }) = &prompt.correction {
        text.push_str(&format!(
            "\n\n# Correction\n\nThe last answer was not accepted: {why}. Give the corrected JSON object."
        ));
    }
    text
}
