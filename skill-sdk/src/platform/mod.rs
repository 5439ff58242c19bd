//! Clients of the platform's services. They do not depend on `context`, which gives them to skills.
//!
//! - `llm`: language models; `pii`: PII redaction, applied to each text for a model
//! - `core`: artifacts and knowledge; `connections`: accounts in other systems
//! - `web`: HTTP as all of them use it
//! - `cached`, `clock`, `dates`: shared helpers

#[cfg(feature = "core")]
mod cached;
#[cfg(feature = "core")]
pub(crate) mod clock;
#[cfg(feature = "connections")]
pub(crate) mod connections;
#[cfg(feature = "core")]
pub(crate) mod core;
#[cfg(any(feature = "connections", all(feature = "core", feature = "testing")))]
pub(crate) mod dates;
#[cfg(feature = "llm")]
pub(crate) mod llm;
#[cfg(feature = "llm")]
pub mod pii;
pub(crate) mod usage;
#[cfg(any(feature = "core", feature = "llm"))]
pub(crate) mod web;

pub use self::usage::LlmUsage;
