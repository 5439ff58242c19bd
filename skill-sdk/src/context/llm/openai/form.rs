//! In which form a model is asked.
//!
//! Servers of one protocol take different parts of it. Each model is asked in the fullest form first; a server that refuses
//! it is asked in a simpler one, and what worked is remembered for the model.

use super::reply::Refusal;
use crate::context::llm::model::Prompt;

/// What a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Form {
    pub(super) format: Format,
    /// Models that think by themselves take no temperature.
    pub(super) no_temperature: bool,
    /// They call the limit of tokens by another name as well.
    pub(super) completion_tokens: bool,
}

/// How the form of the answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Format {
    /// `response_format` with the schema.
    #[default]
    Schema,
    /// `response_format` for any JSON object; the schema is in the instructions.
    Object,
    /// The instructions alone.
    Words,
}

impl Form {
    /// The format that the prompt is asked in: without a schema there is none to send.
    pub(super) fn format_for(self, prompt: &Prompt) -> Format {
        match self.format {
            Format::Schema if prompt.schema.is_none() => Format::Object,
            format => format,
        }
    }

    /// The form to try after a refusal; `None` when the form is not what was refused.
    pub(super) fn simpler(self, prompt: &Prompt, refusal: &Refusal) -> Option<Self> {
        if !refusal.is_about_the_request() {
            return None;
        }
        match refusal.param() {
            Some("temperature") if !self.no_temperature => Some(Self {
                no_temperature: true,
                ..self
            }),
            Some("max_tokens") if !self.completion_tokens && prompt.max_tokens.is_some() => Some(Self {
                completion_tokens: true,
                ..self
            }),
            _ => {
                let format = match self.format_for(prompt) {
                    Format::Schema => Format::Object,
                    Format::Object => Format::Words,
                    Format::Words => return None,
                };
                Some(Self { format, ..self })
            }
        }
    }
}
