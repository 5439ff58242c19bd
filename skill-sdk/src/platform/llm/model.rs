//! The interface of a provider: prompt and reply.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use super::request::Message;
use crate::error::SkillError;
use crate::platform::LlmUsage;

/// A provider of models.
///
/// The library has two, [`OpenAi`](super::OpenAi) and [`ClaudeCode`](super::ClaudeCode).
/// [`configure_llm`](super::configure_llm) replaces them with your own. The library redacts personal data, validates replies,
/// re-prompts, falls back to the next model, enforces the deadline and counts the cost.
pub trait ChatModel: Send + Sync + 'static {
    /// The name of the provider, for logs and traces.
    fn provider(&self) -> &'static str;

    /// The models, in the order in which they are tried. The empty name is the provider's default.
    fn models(&self) -> Vec<String> {
        vec![String::new()]
    }

    /// Asks one model once.
    ///
    /// The future is dropped when the call times out. Everything that it started must end with it.
    fn ask<'a>(&'a self, model: &'a str, prompt: &'a Prompt) -> Asked<'a>;
}

/// The future of [`ChatModel::ask`].
pub type Asked<'a> = Pin<Box<dyn Future<Output = Result<Reply, ChatError>> + Send + 'a>>;

/// What a model is asked. Personal data is already redacted.
#[derive(Clone)]
#[non_exhaustive]
pub struct Prompt {
    /// The instructions. May be empty.
    pub system_prompt: String,
    /// The messages, the oldest first.
    pub messages: Vec<Message>,
    /// The schema of the reply; `None` asks for any JSON object.
    pub schema: Option<ResponseSchema>,
    /// The sampling temperature, from 0 to 2.
    pub temperature: f64,
    /// The most tokens of the reply.
    pub max_tokens: Option<u32>,
    /// The last reply of this model and what is wrong with it, if the model is asked again.
    pub correction: Option<Correction>,
}

impl Prompt {
    /// The last message. Empty without messages.
    pub fn prompt(&self) -> &str {
        self.messages.last().map_or("", |message| &message.content)
    }

    /// The name of the schema; `None` for any JSON object.
    pub fn schema_name(&self) -> Option<&str> {
        self.schema.as_ref().map(|schema| schema.name.as_str())
    }

    /// Instructions for the format of the reply, for a model that does not get the schema in another way.
    pub(super) fn format_in_words(&self) -> String {
        match &self.schema {
            Some(schema) => format!(
                "Answer with one JSON object that is valid for the JSON Schema below, without any text before or after it:\n{}",
                schema.schema
            ),
            None => "Answer with one JSON object, without any text before or after it.".to_owned(),
        }
    }
}

/// The schema of a reply.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResponseSchema {
    /// Its name: 1 to 64 ASCII letters, digits, `_` or `-`.
    pub name: String,
    /// The schema itself, without `$schema`. Replies are validated against it.
    pub schema: Value,
}

/// A reply that is not valid.
#[derive(Clone)]
#[non_exhaustive]
pub struct Correction {
    /// The reply.
    pub answer: String,
    /// The reason, for the model.
    pub why: String,
}

/// The reply of a model.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Reply {
    /// The text that contains the JSON.
    pub text: String,
    /// The usage, and the model.
    pub usage: LlmUsage,
}

impl Reply {
    /// A reply and its usage.
    pub fn new(text: impl Into<String>, usage: LlmUsage) -> Self {
        Self {
            text: text.into(),
            usage,
        }
    }
}

/// Why a model did not reply.
#[derive(Debug)]
pub struct ChatError {
    pub(super) error: SkillError,
    /// Whether another model may succeed.
    pub(super) next: bool,
    pub(super) usage: LlmUsage,
}

impl ChatError {
    /// Fails the conversation: another model would fail too.
    pub fn last(error: SkillError) -> Self {
        Self {
            error,
            next: false,
            usage: LlmUsage::default(),
        }
    }

    /// Falls back to the next model. Without one, the conversation fails with this error.
    pub fn next(error: SkillError) -> Self {
        Self {
            next: true,
            ..Self::last(error)
        }
    }

    /// Sets the usage of the failed request.
    #[must_use]
    pub fn usage(mut self, usage: LlmUsage) -> Self {
        self.usage = usage;
        self
    }
}

impl From<SkillError> for ChatError {
    fn from(error: SkillError) -> Self {
        Self::last(error)
    }
}

// Texts may contain personal data and must not be logged.
debug_fields!(Prompt {
    messages,
    temperature,
    max_tokens
});

debug_fields!(Correction {});

debug_fields!(Reply { usage });
