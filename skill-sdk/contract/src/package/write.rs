//! The files of a plan on disk: all of them, or none.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde_json::Value;

use super::check::{Drift, as_text, shown_path};
use super::drift::compare;
use super::error::PackageError;
use super::export::{Plan, PlannedFile};
use super::files::{self, Found};
use super::header::is_generated;
use super::yaml::read;

/// What [`Plan::write`] did.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Written {
    /// Every planned file, sorted by skill.
    pub files: Vec<WrittenFile>,
    /// Generated files of skills that are no longer in the code. They are reported, never deleted.
    pub stale: Vec<Drift>,
}

/// One file after a write. Displayed as `wrote <path>` or `unchanged <path>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WrittenFile {
    /// The skill's ref.
    pub skill: String,
    /// The file.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// What happened to it.
    pub outcome: Outcome,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// It is new, or has new content.
    Wrote,
    /// It had the planned text, or is somebody's own file that says the same; it was not touched.
    Unchanged,
}

impl fmt::Display for WrittenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.outcome {
            Outcome::Wrote => "wrote",
            Outcome::Unchanged => "unchanged",
        };
        write!(f, "{word} {}", shown_path(&self.path))
    }
}

impl Plan {
    /// Writes the files whose text is not the planned one.
    ///
    /// All new texts are stored beside their targets first; only when every one is safely on disk
    /// are they renamed into place. Before that, any failure leaves the package as it was. A file
    /// keeps its permissions.
    ///
    /// # Errors
    /// [`PackageError::NotOurs`] when a target is a directory, a link, or a file without the
    /// generated header that says something else than the code; [`PackageError::Io`] when the disk
    /// refuses before the first file was replaced, [`PackageError::Incomplete`] when after it.
    pub fn write(&self) -> Result<Written, PackageError> {
        let outcomes = self.outcomes()?;
        let stale = self.leftovers()?;
        let changed: Vec<&PlannedFile> = self
            .files
            .iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| **outcome == Outcome::Wrote)
            .map(|(file, _)| file)
            .collect();
        if !changed.is_empty() {
            fs::create_dir_all(&self.directory)
                .map_err(|e| PackageError::io("create the directory", &self.directory, e))?;
            replace_all(&self.directory, &changed)?;
        }
        let files = self
            .files
            .iter()
            .zip(outcomes)
            .map(|(file, outcome)| WrittenFile {
                skill: file.skill.clone(),
                path: file.path.clone(),
                outcome,
            })
            .collect();
        Ok(Written { files, stale })
    }

    /// What to do with each file; every target that must not be replaced is reported at once.
    fn outcomes(&self) -> Result<Vec<Outcome>, PackageError> {
        let mut outcomes = Vec::with_capacity(self.files.len());
        let mut refused = Vec::new();
        for file in &self.files {
            match outcome_of(file) {
                Ok(outcome) => outcomes.push(outcome),
                Err(what) => refused.push((file.path.clone(), what)),
            }
        }
        if refused.is_empty() {
            Ok(outcomes)
        } else {
            Err(PackageError::NotOurs { files: refused })
        }
    }
}

fn outcome_of(file: &PlannedFile) -> Result<Outcome, String> {
    let bytes = match files::look(&file.path) {
        Found::Nothing => return Ok(Outcome::Wrote),
        Found::Unusable(what) => return Err(what),
        Found::File(bytes) => bytes,
    };
    if bytes == file.text.as_bytes() {
        return Ok(Outcome::Unchanged);
    }
    if is_generated(&bytes) {
        return Ok(Outcome::Wrote);
    }
    let says_the_same = |found: Value| compare(&found, &file.document).is_empty();
    if read(&bytes).is_ok_and(says_the_same) {
        return Ok(Outcome::Unchanged);
    }
    Err("lacks the line that generated files start with, and does not say what the code says".to_owned())
}

/// Stores all texts beside their targets, then renames them.
pub(super) fn replace_all(directory: &Path, files: &[&PlannedFile]) -> Result<(), PackageError> {
    let mut staged = Vec::with_capacity(files.len());
    for file in files {
        staged.push(Staged::new(file)?);
    }
    let mut written = Vec::new();
    for staged in staged {
        let path = staged.target.clone();
        match staged.commit() {
            Ok(()) => written.push(path),
            Err(source) if written.is_empty() => {
                return Err(PackageError::io("replace", path, source));
            }
            Err(source) => {
                return Err(PackageError::Incomplete {
                    written,
                    path,
                    source,
                });
            }
        }
    }
    // The renames themselves should survive a power failure; where a directory cannot be opened as a
    // file there is nothing to do for that.
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// A new text on disk, not yet at its target. Dropped without [`commit`](Self::commit), it is gone.
struct Staged {
    temporary: PathBuf,
    target: PathBuf,
    committed: bool,
}

impl Staged {
    fn new(file: &PlannedFile) -> Result<Self, PackageError> {
        let (temporary, mut output) =
            create_beside(&file.path).map_err(|e| PackageError::io("create a file beside", &file.path, e))?;
        let staged = Self {
            temporary,
            target: file.path.clone(),
            committed: false,
        };
        output
            .write_all(file.text.as_bytes())
            .and_then(|()| match fs::metadata(&file.path) {
                Ok(old) => output.set_permissions(old.permissions()),
                Err(_) => Ok(()),
            })
            .and_then(|()| output.sync_all())
            .map_err(|e| PackageError::io("write", &staged.temporary, e))?;
        Ok(staged)
    }

    fn commit(mut self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.target)?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.committed {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// A file that did not exist, in the directory of `target`, with a name of this process.
fn create_beside(target: &Path) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".skill-sdk-{}-{count}.tmp", std::process::id());
        let path = target.with_file_name(name);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            // Left by a process that was killed and had the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
