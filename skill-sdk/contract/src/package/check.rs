//! What differs between the files of a package and the code.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use super::diff::unified_diff;
use super::drift::{Difference, compare};
use super::error::PackageError;
use super::export::{Plan, PlannedFile};
use super::files;
use super::header::is_generated;
use super::names::skill_of_file;
use super::yaml::read;
use crate::text::kind;

/// One file that does not agree with the code.
///
/// Displayed as one line, and one more, indented, for each difference.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Drift {
    /// The file, as a path below the directory that was opened.
    pub path: PathBuf,
    /// The ref of the skill whose file it is; none for a file that belongs to no skill.
    pub skill: Option<String>,
    /// The problem.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The problem of a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// The file does not exist.
    Missing,
    /// The file and the code differ.
    Differs {
        /// The places that differ, in the code's order.
        differences: Vec<Difference>,
        /// The same as a unified diff from the file to the code; empty for very long documents.
        diff: String,
    },
    /// The file is not one YAML document of plain data, or is not a file.
    Unreadable {
        /// The problem in words, without the place.
        message: String,
        /// The line, from 1, where it is known.
        line: Option<usize>,
        /// The character in the line, from 1.
        column: Option<usize>,
    },
    /// The file was generated, but its skill is no longer in the code.
    Stale,
    /// The document's `key` is not the name that the file is called by.
    KeyMismatch {
        /// The document's `key`.
        key: String,
        /// The name in the file's name.
        name: String,
    },
}

impl Plan {
    /// Compares the files of the package with the plan; an empty list means they agree.
    ///
    /// The file of a planned skill is compared by meaning, whether or not it was generated. Any other file in the
    /// directory matters only if it was generated: then its skill must be in the code.
    ///
    /// # Errors
    /// When the directory cannot be listed. A file that cannot be read is a [`Finding`].
    pub fn check(&self) -> Result<Vec<Drift>, PackageError> {
        let mut found: Vec<Drift> = self.files.iter().flat_map(check_planned).collect();
        found.extend(self.leftovers()?);
        Ok(found)
    }

    /// Generated files that no skill of the code is written to.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn leftovers(&self) -> Result<Vec<Drift>, PackageError> {
        let names = files::entries(&self.directory)
            .map_err(|error| PackageError::io("read the directory", &self.directory, &error))?;
        let unknown = names.iter().filter(|name| !self.known.contains(*name));
        Ok(unknown
            .filter_map(|name| check_unknown(&self.directory, name))
            .collect())
    }
}

fn check_planned(planned: &PlannedFile) -> Vec<Drift> {
    let drift = |finding| Drift {
        path: planned.path.clone(),
        skill: Some(planned.skill.clone()),
        finding,
    };
    let unreadable = |message, line, column| {
        vec![drift(Finding::Unreadable {
            message,
            line,
            column,
        })]
    };
    let bytes = match files::look(&planned.path) {
        Ok(None) => return vec![drift(Finding::Missing)],
        Ok(Some(bytes)) => bytes,
        Err(message) => return unreadable(message, None, None),
    };
    let file = match read(&bytes) {
        Ok(file) if file.is_object() => file,
        Ok(other) => {
            let message = format!(
                "the document is {}, expected a mapping (`key: value` lines)",
                kind(&other)
            );
            return unreadable(message, None, None);
        }
        Err(error) => {
            let (line, column) = error.position.unzip();
            return unreadable(error.message, line, column);
        }
    };
    let mut differences = compare(&file, &planned.document);
    let mut found = Vec::new();
    if let Some(key) = other_key(&file, &planned.name) {
        differences.retain(|difference| difference.path != "key");
        found.push(drift(Finding::KeyMismatch {
            key,
            name: planned.name.clone(),
        }));
    }
    if !differences.is_empty() {
        let diff = unified_diff(&shown_path(&planned.path), &file, &planned.document);
        found.push(drift(Finding::Differs { differences, diff }));
    }
    found
}

fn check_unknown(directory: &Path, file_name: &str) -> Option<Drift> {
    let name = skill_of_file(file_name)?;
    let path = directory.join(file_name);
    let bytes = files::look(&path).ok()?.filter(|bytes| is_generated(bytes))?;
    let key = read(&bytes).ok().and_then(|file| other_key(&file, name));
    let finding = match key {
        Some(key) => Finding::KeyMismatch {
            key,
            name: name.to_owned(),
        },
        None => Finding::Stale,
    };
    Some(Drift {
        path,
        skill: None,
        finding,
    })
}

/// The key of a file's document if it is a text other than `name`.
fn other_key(file: &Value, name: &str) -> Option<String> {
    file.get("key")?
        .as_str()
        .filter(|key| *key != name)
        .map(str::to_owned)
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(skill) = &self.skill {
            write!(f, "{skill}: ")?;
        }
        f.write_str(&shown_path(&self.path))?;
        match &self.finding {
            Finding::Missing => f.write_str(" is missing"),
            Finding::Differs { differences, .. } => {
                f.write_str(" differs from the code")?;
                differences
                    .iter()
                    .try_for_each(|difference| write!(f, "\n  {difference}"))
            }
            Finding::Unreadable {
                message,
                line: Some(line),
                column: Some(column),
            } => {
                write!(f, ":{line}:{column}: {message}")
            }
            Finding::Unreadable { message, .. } => write!(f, ": {message}"),
            Finding::Stale => f.write_str(
                " was generated for a skill that is no longer in the code: delete it, or bring the \
                 skill back",
            ),
            Finding::KeyMismatch { key, name } => write!(
                f,
                " holds the key {}, but its name says {}",
                Value::from(key.as_str()),
                Value::from(name.as_str())
            ),
        }
    }
}

/// A path for people: control characters, which names on disk may hold, are escaped.
fn shown_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.chars().any(char::is_control) {
        return text.escape_debug().to_string();
    }
    text.into_owned()
}
