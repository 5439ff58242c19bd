//! Language models.
//!
//! - `request`: requests of skills; `model`: the interface of a provider
//! - `client`: the configured provider
//! - `chat`: one conversation: PII redaction, model fallback, re-prompt, usage
//! - `answer`: from the text of a reply to a value of a type
//! - `openai`, `claude`: the providers

mod answer;
mod chat;
mod claude;
mod client;
mod model;
mod openai;
mod request;
#[cfg(test)]
mod tests;

pub(crate) use self::answer::{Wanted, unreadable};
pub use self::claude::ClaudeCode;
pub use self::client::{ChatAnswer, LlmClient, configure_llm};
pub use self::model::{Asked, ChatError, ChatModel, Correction, Prompt, Reply, ResponseSchema};
pub use self::openai::OpenAi;
pub use self::request::{ChatRequest, Message, Role};
