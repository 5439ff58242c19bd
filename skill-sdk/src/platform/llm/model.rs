//! What a provider is asked, and what it answers.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use super::request::Message;
use crate::error::SkillError;
use crate::platform::LlmUsage;

/// Somebody who answers prompts: a provider of models.
///
/// The library has two, [`OpenAi`](super::OpenAi) and [`ClaudeCode`](super::ClaudeCode). With one of your own,
/// [`configure_llm`](super::configure_llm) puts it in their place. The guard, the check of answers, the repair, the
/// rotation of models, the deadline and the cost are done around it.
pub trait ChatModel: Send + Sync + 'static {
    /// A word for the provider, for logs and traces.
    fn provider(&self) -> &'static str;

    /// The models, in the order in which they are asked. The empty name is the provider's default.
    fn models(&self) -> Vec<String> {
        vec![String::new()]
    }

    /// Asks one model once.
    ///
    /// The future is dropped when the time of the call is up, and everything that it started must end with it.
    fn ask<'a>(&'a self, model: &'a str, prompt: &'a Prompt) -> Asked<'a>;
}

/// The work of [`ChatModel::ask`].
pub type Asked<'a> = Pin<Box<dyn Future<Output = Result<Reply, ChatError>> + Send + 'a>>;

/// What a model is asked. Personal data is already replaced in all of it.
#[derive(Clone)]
#[non_exhaustive]
pub struct Prompt {
    /// The instructions; may be empty.
    pub system_prompt: String,
    /// The messages, the oldest first.
    pub messages: Vec<Message>,
    /// The schema of the answer; `None`: any JSON object.
    pub schema: Option<ResponseSchema>,
    /// From 0 to 2.
    pub temperature: f64,
    /// The most tokens of the answer.
    pub max_tokens: Option<u32>,
    /// What was wrong with the last answer of this model, when it is asked again.
    pub correction: Option<Correction>,
}

impl Prompt {
    /// The last message; empty when there is none.
    pub fn prompt(&self) -> &str {
        self.messages.last().map_or("", |message| &message.content)
    }

    /// The name of the schema; `None` when any JSON object is asked for.
    pub fn schema_name(&self) -> Option<&str> {
        self.schema.as_ref().map(|schema| schema.name.as_str())
    }

    /// What the answer must be, for a model that is not given the schema in another way.
    pub(super) fn format_in_words(&self) -> String {
        match &self.schema {
            Some(schema) => format!(
                "Answer with one JSON object that fits the JSON Schema below, without any text before or after it:\n{}",
                schema.schema
            ),
            None => "Answer with one JSON object, without any text before or after it.".to_owned(),
        }
    }
}

/// The schema of an answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResponseSchema {
    /// Its name: 1 to 64 ASCII letters, digits, `_` or `-`.
    pub name: String,
    /// The schema itself, without `$schema`. Answers are validated against it.
    pub schema: Value,
}

/// An answer that was not accepted.
#[derive(Clone)]
#[non_exhaustive]
pub struct Correction {
    /// The answer.
    pub answer: String,
    /// What is wrong with it, for the model.
    pub why: String,
}

/// What a model answered.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Reply {
    /// The text, in which the JSON is.
    pub text: String,
    /// What it took, and which model it was.
    pub usage: LlmUsage,
}

impl Reply {
    /// An answer and what it took.
    pub fn new(text: impl Into<String>, usage: LlmUsage) -> Self {
        Self {
            text: text.into(),
            usage,
        }
    }
}

/// Why a model did not answer.
#[derive(Debug)]
pub struct ChatError {
    pub(super) error: SkillError,
    /// Whether another model may answer.
    pub(super) next: bool,
    pub(super) usage: LlmUsage,
}

impl ChatError {
    /// The end of the call: another model would not answer either.
    pub fn last(error: SkillError) -> Self {
        Self {
            error,
            next: false,
            usage: LlmUsage::default(),
        }
    }

    /// Another model may answer; without one this is the failure of the call.
    pub fn next(error: SkillError) -> Self {
        Self {
            next: true,
            ..Self::last(error)
        }
    }

    /// What the failure took all the same.
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

// No texts: they may hold what nobody should read in a log.
debug_fields!(Prompt {
    messages,
    temperature,
    max_tokens
});

debug_fields!(Correction {});

debug_fields!(Reply { usage });
