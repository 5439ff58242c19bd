//! From skills to files: everything is decided and checked here before anything is written.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::error::PackageError;
use super::names::file_name;
use super::yaml::{MAX_BYTES, MAX_DEPTH, emit, read};
use super::{drift, files, header};
use crate::version::compare_versions;
use crate::walk::height;

/// What a package is to hold, ready to be compared with what is there or to be written.
#[derive(Debug, Clone)]
pub struct Plan {
    /// `<dir>/skills`, spelled as the caller spelled `<dir>`.
    pub(super) directory: PathBuf,
    /// Sorted by the refs of their skills.
    pub(super) files: Vec<PlannedFile>,
    /// The names of the files of all skills in the code, planned or not.
    pub(super) known: HashSet<String>,
}

/// One file of a plan.
#[derive(Debug, Clone)]
pub(super) struct PlannedFile {
    /// The skill's ref, `name@version`.
    pub(super) skill: String,
    /// The skill's name.
    pub(super) name: String,
    /// Where the file goes.
    pub(super) path: PathBuf,
    /// The document it holds.
    pub(super) document: Value,
    /// Its whole text, header included.
    pub(super) text: String,
}

impl Plan {
    /// Decides the file and the text of every document of the package in `directory`, which need not exist yet. The disk
    /// is not touched.
    ///
    /// `others` are the names and versions of skills that are in the code but not exported now.
    /// They matter in two ways: a newer version among them takes the plain file name, and files that
    /// are theirs are not reported as left over.
    ///
    /// The newest version of a name, part by part between dots, gets `<name>.yaml`, the others
    /// `<name>@<version>.yaml`.
    ///
    /// # Errors
    /// When `directory`, or `skills` in it, is something other than a directory, or below such a thing. A name that cannot
    /// be a file name; two skills of one ref, or whose files differ in case only; a document which cannot be read back
    /// (deeper than 64 levels, larger than 8 MiB).
    pub fn new(
        directory: impl AsRef<Path>,
        documents: &[Value],
        others: &[(&str, &str)],
    ) -> Result<Self, PackageError> {
        let directory = directory.as_ref().join("skills");
        let there = directory
            .ancestors()
            .find_map(|path| Some((path, fs::metadata(path).ok()?)));
        if let Some((path, metadata)) = there
            && !metadata.is_dir()
        {
            return Err(PackageError(format!("{} is not a directory", path.display())));
        }
        let given: Vec<(&str, &str)> = documents
            .iter()
            .map(|document| (text(&document["key"]), text(&document["spec"]["version"])))
            .collect();
        let known = names_of(&given, others)?;
        let real = files::resolved(&directory)
            .map_err(|error| PackageError::io("find the directory", &directory, &error))?;
        let header = header::header(&real);
        let planned = |(document, skill @ (name, version)): (&Value, &(&str, &str))| {
            let reference = format!("{name}@{version}");
            Ok(PlannedFile {
                text: text_of(document, &reference, &header)?,
                skill: reference,
                name: (*name).to_owned(),
                path: directory.join(&known[skill]),
                document: document.clone(),
            })
        };
        let mut files = documents
            .iter()
            .zip(&given)
            .map(planned)
            .collect::<Result<Vec<_>, PackageError>>()?;
        files.sort_by(|a, b| a.skill.cmp(&b.skill));
        Ok(Self {
            files,
            known: known.into_values().collect(),
            directory,
        })
    }
}

/// The file name of every skill, planned or not, each of them possible and none of them shared.
fn names_of<'a>(
    given: &[(&'a str, &'a str)],
    others: &[(&'a str, &'a str)],
) -> Result<HashMap<(&'a str, &'a str), String>, PackageError> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (index, &(name, version)) in given.iter().chain(others).enumerate() {
        let known = versions.entry(name).or_default();
        if !known.contains(&version) {
            known.push(version);
        } else if index < given.len() {
            return Err(PackageError(format!(
                "{}@{version} is given twice",
                name.escape_debug()
            )));
        }
    }

    let mut names = HashMap::new();
    let mut by_lower_case: HashMap<String, String> = HashMap::new();
    for (name, mut versions) in versions {
        versions.sort_by(|a, b| compare_versions(b, a));
        for (index, version) in versions.into_iter().enumerate() {
            let skill = format!("{name}@{version}");
            let file = file_name(name, version, index == 0)
                .map_err(|reason| not_exported(&skill, &format!("{reason}: rename it")))?;
            if let Some(first) = by_lower_case.insert(file.to_lowercase(), skill.clone()) {
                return Err(PackageError(format!(
                    "{first} and {skill} would share the file {file} where upper and lower case are the same: rename one"
                )));
            }
            names.insert((name, version), file);
        }
    }
    Ok(names)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn not_exported(skill: &str, reason: &str) -> PackageError {
    PackageError(format!("{} cannot be exported: {reason}", skill.escape_debug()))
}

/// The file's text, proven to be readable and to mean what the document says.
fn text_of(document: &Value, skill: &str, header: &str) -> Result<String, PackageError> {
    let rejected = |reason: String| not_exported(skill, &reason);
    if height(document) > MAX_DEPTH {
        return Err(rejected(format!(
            "its document is deeper than {MAX_DEPTH} levels"
        )));
    }
    let text = format!("{header}{}", emit(document));
    if text.len() > MAX_BYTES {
        let bytes = text.len();
        return Err(rejected(format!(
            "its file would have {bytes} bytes, at most {MAX_BYTES} are read"
        )));
    }
    match read(text.as_bytes()) {
        Ok(back) if drift::compare(&back, document).is_empty() => Ok(text),
        Ok(_) => Err(rejected(
            "its file would be read back as something else".to_owned(),
        )),
        Err(error) => Err(rejected(format!("its file could not be read back: {error}"))),
    }
}
