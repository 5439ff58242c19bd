//! Why a file is not a document, and where.

use std::fmt;

/// A file that cannot be read as one document of plain data.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// The problem, and what to do. Texts taken from the file are quoted and shortened.
    pub message: String,
    /// Where: the line and the character in it, both from 1. `None` when the file as a whole is at fault.
    pub position: Option<(usize, usize)>,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.position {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}
