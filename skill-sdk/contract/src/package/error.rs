//! Why a package can be neither checked nor written.

use std::fmt;
use std::io;
use std::path::Path;

/// A package that cannot be planned, checked or written. Nothing was written, except the files that the text lists.
#[derive(Debug)]
pub struct PackageError(pub(super) String);

impl PackageError {
    pub(super) fn io(action: &str, path: &Path, source: &io::Error) -> Self {
        Self(format!("cannot {action} {}: {source}", path.display()))
    }
}

impl fmt::Display for PackageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PackageError {}
