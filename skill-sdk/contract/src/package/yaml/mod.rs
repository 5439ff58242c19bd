//! YAML as this product writes and reads it: JSON values in one canonical layout, and a reader that
//! takes nothing on trust.
//!
//! Two kinds of reader meet these files: the platform's (`PyYAML`, YAML 1.1) and everybody else's
//! (YAML 1.2). They disagree about plain words such as `on`, `1e3` or `2026-01-01`. So the emitter
//! quotes whatever either of them would take for another type, and the reader refuses what they
//! would read differently instead of picking a side.
//!
//! - [`emit`]: a JSON value as canonical YAML text;
//! - [`read`]: bytes of a file as a JSON value, or a [`ReadError`] with its place;
//! - `scalar`: what a plain word means to both kinds of reader.

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
