//! Why the schema of a type cannot be part of a contract.

use std::fmt;

/// A type whose schema cannot be part of a contract. Its text says what is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaProblem(pub(super) String);

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SchemaProblem {}
