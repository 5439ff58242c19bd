//! In which form a model is asked.
//!
//! Servers of one protocol take different parts of it. Each model is asked in the fullest form first; a server that refuses
//! it is asked in a simpler one, and what worked is remembered: the names of parameters for the model, the format for the
//! model and the schema. So a schema that a server does not take is the only one that it gets in words.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::reply::Refusal;
use crate::platform::llm::model::Prompt;

/// What worked.
#[derive(Default)]
pub(super) struct Forms {
    /// The forms of the models; their formats are not looked at.
    models: HashMap<String, Form>,
    /// The formats that are not the fullest ones, by model and schema.
    formats: HashMap<(String, Option<u64>), Format>,
}

impl Forms {
    /// The form to begin with.
    pub(super) fn known(&self, model: &str, prompt: &Prompt) -> Form {
        let form = self.models.get(model).copied().unwrap_or_default();
        let place = (model.to_owned(), schema(prompt));
        let format = self.formats.get(&place).copied().unwrap_or_default();
        Form { format, ..form }
    }

    /// Remembers a form that worked.
    pub(super) fn learn(&mut self, model: &str, prompt: &Prompt, form: Form) {
        self.models.insert(model.to_owned(), form);
        let place = (model.to_owned(), schema(prompt));
        if form.format == Format::default() {
            // A call beside this one may have been refused for a reason that is gone.
            self.formats.remove(&place);
        } else {
            self.formats.insert(place, form.format);
        }
    }
}

/// What tells the schemas of a program apart.
fn schema(prompt: &Prompt) -> Option<u64> {
    let schema = prompt.schema.as_ref()?;
    let mut hasher = DefaultHasher::new();
    schema.schema.hash(&mut hasher);
    Some(hasher.finish())
}

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
        if !refusal.may_be_about_the_form() {
            return None;
        }
        match refusal.about() {
            Some("temperature") => (!self.no_temperature).then_some(Self {
                no_temperature: true,
                ..self
            }),
            Some("max_tokens") => (!self.completion_tokens && prompt.max_tokens.is_some()).then_some(Self {
                completion_tokens: true,
                ..self
            }),
            Some(other) if !names_the_format(other) => None,
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

/// Servers call it `response_format`, or by what they make of it.
fn names_the_format(param: &str) -> bool {
    let param = param.to_lowercase();
    ["format", "schema", "grammar", "json"]
        .iter()
        .any(|word| param.contains(word))
}
