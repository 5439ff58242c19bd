//! YAML as this product writes and reads it: JSON values in one canonical layout, and a reader that
//! accepts only what every YAML reader reads alike.
//!
//! Two kinds of reader read these files: the platform's (`PyYAML`, YAML 1.1) and those of YAML 1.2. They disagree about plain
//! words such as `on`, `1e3` or `2026-01-01`. So the emitter quotes a string that either of them would take for another type,
//! and the reader rejects a word that they would read differently.
//!
//! - [`emit`]: a JSON value as canonical YAML text;
//! - [`read`]: bytes of a file as a JSON value, or a [`ReadError`] with its place;
//! - `scalar`: what a plain word means to both kinds of reader.
//!
//! ```
//! use serde_json::json;
//! use skill_sdk_contract::package::yaml::{emit, read};
//!
//! let value = json!({"key": "claims.triage", "version": "1"});
//! let text = emit(&value);
//! assert_eq!(text, "key: claims.triage\nversion: '1'\n");
//! assert_eq!(read(text.as_bytes())?, value);
//! # Ok::<(), skill_sdk_contract::package::yaml::ReadError>(())
//! ```
//!
//! Reference: `docs/reference/contract.md`.

mod emit;
mod error;
mod read;
mod scalar;

pub use emit::emit;
pub use error::ReadError;
pub use read::read;
pub(crate) use read::{MAX_BYTES, MAX_DEPTH};

#[cfg(test)]
mod tests;
