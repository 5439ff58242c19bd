//! Why a type has no schema that can stand in a contract.

use std::fmt;

/// What is wrong with the schema of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaProblemKind {
    /// The inputs can only be something else than a JSON object.
    NotAnObject,
    /// A place in the schema that no value can satisfy.
    Unsatisfiable,
    /// A `$ref` to something that is not in the schema.
    UnresolvedReference,
}

impl SchemaProblemKind {
    /// The stable code of this kind: `not_an_object`, `unsatisfiable` or `unresolved_reference`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotAnObject => "not_an_object",
            Self::Unsatisfiable => "unsatisfiable",
            Self::UnresolvedReference => "unresolved_reference",
        }
    }
}

/// A type whose schema cannot stand in a contract. Its text says what is wrong, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaProblem {
    /// What is wrong.
    pub kind: SchemaProblemKind,
    /// The type that was asked for, without module paths, such as `Vec<Item>`.
    pub type_name: String,
    /// Where it is wrong: a JSON pointer into the schema of the type, read as if shared types were written
    /// out where they are used. Empty for the type itself.
    pub pointer: String,
    /// The whole message: lower case, one sentence.
    pub message: String,
}

impl fmt::Display for SchemaProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SchemaProblem {}
