//! Language models.
//!
//! - `request`: what a skill asks; `model`: what a provider is asked, and its answer
//! - `client`: which provider there is
//! - `chat`: one conversation: the guard, the rotation, the repair, the time, the tokens
//! - `answer`: from the text of a model to a value of a type
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
