//! In which form a model is asked. Servers of one protocol support different parts of it.

use crate::platform::llm::model::Prompt;

/// What a request leaves out because the server rejects it. The default is the full form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Form {
    /// The response format is `json_object`, and the instructions contain the schema.
    pub(super) no_schema: bool,
    /// Reasoning models take no temperature.
    pub(super) no_temperature: bool,
    /// Reasoning models have another name for the limit of tokens.
    pub(super) completion_tokens: bool,
}

impl Form {
    /// The form to try after the server answered `status` and named `param`; `None` when another form does not help.
    pub(super) fn simpler(self, prompt: &Prompt, status: u16, param: Option<&str>) -> Option<Self> {
        if !matches!(status, 400 | 415 | 422 | 501) {
            return None;
        }
        let mut simpler = self;
        match param {
            Some("temperature") => simpler.no_temperature = true,
            Some("max_tokens") => simpler.completion_tokens = prompt.max_tokens.is_some(),
            _ => simpler.no_schema = prompt.schema.is_some(),
        }
        (simpler != self).then_some(simpler)
    }
}
