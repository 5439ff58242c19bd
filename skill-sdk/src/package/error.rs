//! Why a package can be neither checked nor written.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A package that cannot be planned, checked or written. Nothing was written, except where
/// [`Incomplete`](Self::Incomplete) says so.
#[derive(Debug)]
#[non_exhaustive]
pub enum PackageError {
    /// A skill whose file cannot have a name.
    FileName {
        /// The skill's ref.
        skill: String,
        /// What is wrong, in words.
        reason: String,
    },
    /// A skill that was given twice.
    Twice {
        /// Its ref.
        skill: String,
    },
    /// Two skills that would share a file on a system that ignores case.
    SameFile {
        /// The refs of the two.
        skills: [String; 2],
        /// The name of the file.
        file: String,
    },
    /// A document that does not fit its skill, or cannot be stored.
    Document {
        /// The skill's ref.
        skill: String,
        /// What is wrong, in words.
        reason: String,
    },
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
            Self::FileName { skill, reason } => {
                write!(
                    f,
                    "{} cannot be exported: {reason}: rename it",
                    skill.escape_debug()
                )
            }
            Self::Twice { skill } => write!(f, "{} is given twice", skill.escape_debug()),
            Self::SameFile { skills: [a, b], file } => write!(
                f,
                "{a} and {b} would share the file {file} where upper and lower case are the same: \
                 rename one"
            ),
            Self::Document { skill, reason } => {
                write!(f, "{} cannot be exported: {reason}", skill.escape_debug())
            }
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
