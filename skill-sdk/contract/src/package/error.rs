//! Why a package can be neither checked nor written.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A package that cannot be planned, checked or written. Nothing was written, except where
/// [`Incomplete`](Self::Incomplete) says so.
#[derive(Debug)]
#[non_exhaustive]
pub enum PackageError {
    /// A skill that cannot be exported: its name, its document, or another skill with the same file; in words.
    Skill(String),
    /// The package, or its `skills`, is something other than a directory.
    NotADirectory(PathBuf),
    /// Something at the place of a file that must not be replaced.
    NotOurs {
        /// Each path, and what is there, in words.
        files: Vec<(PathBuf, String)>,
    },
    /// The file system refused.
    Io {
        /// What was tried, as in `read the directory`.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// The file system refused after some files had been replaced already.
    Incomplete {
        /// The files that have their new content.
        written: Vec<PathBuf>,
        /// The file that could not be replaced; it is unchanged, as are those after it.
        path: PathBuf,
        /// The file system's answer.
        source: io::Error,
    },
}

impl PackageError {
    pub(super) fn skill(skill: &str, reason: &str) -> Self {
        Self::Skill(format!("{} {reason}", skill.escape_debug()))
    }

    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }
}

impl fmt::Display for PackageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Skill(reason) => f.write_str(reason),
            Self::NotADirectory(path) => write!(f, "{} is not a directory", path.display()),
            Self::NotOurs { files } => {
                f.write_str("nothing was written:")?;
                for (path, what) in files {
                    write!(f, "\n  {}: {what}", path.display())?;
                }
                f.write_str("\nmove or delete what is there and export again")
            }
            Self::Io { action, path, source } => {
                write!(f, "cannot {action} {}: {source}", path.display())
            }
            Self::Incomplete {
                written,
                path,
                source,
            } => {
                write!(f, "cannot replace {}: {source}", path.display())?;
                for path in written {
                    write!(f, "\n  written before: {}", path.display())?;
                }
                f.write_str("\nexport again when the cause is gone")
            }
        }
    }
}

impl std::error::Error for PackageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::Incomplete { source, .. } => Some(source),
            _ => None,
        }
    }
}
