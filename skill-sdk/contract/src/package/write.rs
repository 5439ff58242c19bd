//! The files of a plan on disk: all of them, or none.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde_json::Value;

use super::check::Drift;
use super::drift::compare;
use super::error::PackageError;
use super::export::{Plan, PlannedFile};
use super::files;
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

/// One file after a write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WrittenFile {
    /// The skill's ref.
    pub skill: String,
    /// The file.
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
    /// It had the planned text, or is a handwritten file with the same meaning; it was not touched.
    Unchanged,
}

impl Plan {
    /// Writes the files whose text is not the planned one.
    ///
    /// All new texts are stored beside their targets first; only when every one is safely on disk
    /// are they renamed into place. Before that, any failure leaves the package as it was. A file
    /// keeps its permissions.
    ///
    /// # Errors
    /// When a target is a directory, a link, or a file without the generated header whose meaning differs from the code, or
    /// when writing fails. The text lists the files that had been replaced before.
    pub fn write(&self) -> Result<Written, PackageError> {
        let mut written = Written {
            files: Vec::with_capacity(self.files.len()),
            stale: self.leftovers()?,
        };
        // Every target that must not be replaced is reported at once.
        let mut blocked = String::new();
        for file in &self.files {
            match outcome_of(file) {
                Ok(outcome) => written.files.push(WrittenFile {
                    skill: file.skill.clone(),
                    path: file.path.clone(),
                    outcome,
                }),
                Err(what) => blocked += &format!("\n  {}: {what}", file.path.display()),
            }
        }
        if !blocked.is_empty() {
            return Err(PackageError(format!(
                "nothing was written:{blocked}\nmove or delete what is there and export again"
            )));
        }
        let outcomes = self.files.iter().zip(&written.files);
        let changed = outcomes.filter(|(_, written)| written.outcome == Outcome::Wrote);
        let changed: Vec<&PlannedFile> = changed.map(|(file, _)| file).collect();
        if !changed.is_empty() {
            fs::create_dir_all(&self.directory)
                .map_err(|error| PackageError::io("create the directory", &self.directory, &error))?;
            replace_all(&self.directory, &changed)?;
        }
        Ok(written)
    }
}

fn outcome_of(file: &PlannedFile) -> Result<Outcome, String> {
    let Some(bytes) = files::look(&file.path)? else {
        return Ok(Outcome::Wrote);
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
    let mut staged: Vec<PathBuf> = Vec::with_capacity(files.len());
    let result = stage_all(files, &mut staged).and_then(|()| rename_all(files, &staged));
    if result.is_err() {
        // Those that were renamed are not there any more.
        for temporary in &staged {
            let _ = fs::remove_file(temporary);
        }
    }
    // The renames themselves should survive a power failure; where a directory cannot be opened as a
    // file there is nothing to do for that.
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    result
}

fn stage_all(files: &[&PlannedFile], staged: &mut Vec<PathBuf>) -> Result<(), PackageError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    for file in files {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".skill-sdk-{}-{count}.tmp", std::process::id());
        let temporary = file.path.with_file_name(name);
        staged.push(temporary.clone());
        stage(file, &temporary).map_err(|error| PackageError::io("write", &temporary, &error))?;
    }
    Ok(())
}

/// Writes a text that is safely on disk afterwards, with the permissions of the file that it will replace.
fn stage(file: &PlannedFile, temporary: &Path) -> io::Result<()> {
    // Left by a process that was killed and had the same number.
    let _ = fs::remove_file(temporary);
    let mut output = File::create_new(temporary)?;
    output.write_all(file.text.as_bytes())?;
    if let Ok(old) = fs::metadata(&file.path) {
        output.set_permissions(old.permissions())?;
    }
    output.sync_all()
}

fn rename_all(files: &[&PlannedFile], staged: &[PathBuf]) -> Result<(), PackageError> {
    for (index, (file, temporary)) in files.iter().zip(staged).enumerate() {
        if let Err(error) = fs::rename(temporary, &file.path) {
            let before = files[..index].iter();
            let before: String = before
                .map(|file| format!("\n  written before: {}", file.path.display()))
                .collect();
            let PackageError(text) = PackageError::io("replace", &file.path, &error);
            return Err(PackageError(format!(
                "{text}{before}\nexport again when the cause is gone"
            )));
        }
    }
    Ok(())
}
