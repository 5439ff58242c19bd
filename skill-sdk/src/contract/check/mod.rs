//! The publication rules: what a platform refuses when a version of a skill is published, refused here first.
//!
//! Pure functions over JSON. They report **every** violation, in the order in which the platform looks, so the first
//! one of [`Severity::Error`] is the one that the platform would answer with. Nothing here panics, and nothing
//! recurses: a document may be as deep as memory allows.
//!
//! | module | rules |
//! |---|---|
//! | `contract` | the whole contract: keys, order of the rules |
//! | `spec` | the object around it: version, side effects, risk, safe retries |
//! | `limits` | bytes, levels and nodes of a JSON document |
//! | `schema` | one JSON Schema: dialect, then `refs`, then `meta` |
//! | `meta`, `keywords`, `pattern` | is it a JSON Schema 2020-12 at all |
//! | `refs` | references are local and lead somewhere |
//! | `permissions`, `policy` | permissions; timeout, retries, idempotency, cost, conditions |
//! | `implementation`, `auth` | how the skill is reached; no secrets in the contract |
//! | `headers` | inputs that callers over MCP repeat in a header |
//! | `normalize` | the contract with every default filled in |
//! | `shape` | predicates on names, versions, entrypoints, … |

mod auth;
mod contract;
mod credential;
mod headers;
mod implementation;
mod keywords;
mod limits;
mod meta;
mod normalize;
mod pattern;
mod permissions;
mod policy;
mod refs;
mod schema;
mod shape;
mod spec;
mod text;
mod tree;
mod violation;

#[cfg(test)]
mod tests;

pub use contract::{Stage, check_contract, check_contract_at};
pub use headers::{HEADER_KEYWORD, check_header_annotations};
pub use limits::{DocumentSize, MAX_CONTRACT_BYTES, MAX_LEVELS, MAX_NODES, measure};
pub use normalize::{normalize, normalize_at};
pub use permissions::{KNOWN_PERMISSIONS, check_permission, is_known_permission};
pub use policy::{
    IDEMPOTENCY, MAX_ATTEMPTS, MAX_BACKOFF_SECONDS, MAX_TIMEOUT_SECONDS, RISK_LEVELS, SIDE_EFFECTS,
    check_policy, check_safe_retries,
};
pub use schema::{DIALECT, check_schema};
pub use shape::{
    MAX_ADDRESS_CHARS, MAX_NAME_CHARS, MAX_SCOPES, MAX_VERSION_CHARS, check_endpoint, check_entrypoint,
    check_name, check_tool_name, check_version, is_endpoint, is_entrypoint, is_name, is_permission_name,
    is_scope, is_tool_name, is_version, starts_with_variable,
};
pub use spec::{check_spec, check_spec_at};
pub use violation::{Severity, Violation, code};
