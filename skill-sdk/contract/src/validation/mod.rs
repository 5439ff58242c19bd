//! The publication rules: what a platform rejects when a version of a skill is published, rejected here first.
//!
//! Pure functions over JSON. They report **every** violation, in the order in which the platform looks, so the first
//! one of [`Severity::Error`] is the one that the platform would report. Nothing here panics, and what is nested too
//! deeply is not looked at any further.
//!
//! | module | rules |
//! |---|---|
//! | `contract` | the whole contract and the spec around it: keys, order of the rules |
//! | `limits` | bytes, levels and nodes of a JSON document |
//! | `schema` | one JSON Schema: dialect, the values of keywords; then `refs` |
//! | `pattern` | regular expressions that every engine accepts |
//! | `refs` | references are local and lead somewhere |
//! | `policy` | permissions, timeout, retries, idempotency, cost, conditions |
//! | `implementation` | how the skill is reached; no secrets in the contract |
//! | `headers` | inputs that callers over MCP repeat in a header |
//! | `normalize` | the contract with every default filled in |
//!
//! What a text or a number must look like is in [`rules`](crate::rules).

mod contract;
mod headers;
mod implementation;
mod limits;
mod normalize;
mod pattern;
mod policy;
mod refs;
mod schema;
mod violation;

#[cfg(test)]
mod tests;

pub use contract::{Stage, validate, validate_name, validate_spec};
pub use normalize::normalize;
pub(crate) use refs::percent_decoded;
pub(crate) use schema::DIALECT;
pub use violation::{Severity, Violation, code};
