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

/// One skill as it goes into a package.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SkillDocument {
    /// The skill's name, also the document's `key`.
    pub name: String,
    /// The skill's version, also the document's `spec.version`.
    pub version: String,
    /// The document `{apiVersion, kind, key, spec}`.
    pub document: Value,
}

impl SkillDocument {
    /// A skill of this name and version with this document.
    pub fn new(name: impl Into<String>, version: impl Into<String>, document: Value) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            document,
        }
    }

    fn skill(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// A directory that holds, or is to hold, the files of a catalog package.
#[derive(Debug, Clone)]
pub struct Package {
    /// `<dir>/skills`, spelled as the caller spelled `<dir>`.
    directory: PathBuf,
}

impl Package {
    /// The package in `directory`, which need not exist yet.
    ///
    /// # Errors
    /// When `directory`, or `skills` in it, is something other than a directory, or below such a
    /// thing.
    pub fn open(directory: impl AsRef<Path>) -> Result<Self, PackageError> {
        let skills = directory.as_ref().join("skills");
        let there = skills
            .ancestors()
            .find_map(|path| Some((path, fs::metadata(path).ok()?)));
        if let Some((path, metadata)) = there
            && !metadata.is_dir()
        {
            return Err(PackageError::NotADirectory(path.to_owned()));
        }
        Ok(Self { directory: skills })
    }

    /// Decides the file and the text of every document, without touching the disk.
    ///
    /// `others` are the names and versions of skills that are in the code but not exported now.
    /// They matter in two ways: a newer version among them takes the plain file name, and files that
    /// are theirs are not reported as left over.
    ///
    /// The newest version of a name gets `<name>.yaml`, the others
    /// `<name>@<version>.yaml`.
    ///
    /// # Errors
    /// A name that cannot be a file name; two skills of one ref, or whose files differ in case only;
    /// a document whose `key` or `spec.version` is not the skill's, or which cannot be read back
    /// (deeper than [`MAX_DEPTH`], larger than [`MAX_BYTES`]).
    pub fn plan(&self, documents: &[SkillDocument], others: &[(&str, &str)]) -> Result<Plan, PackageError> {
        let given: Vec<(&str, &str)> = documents
            .iter()
            .map(|d| (d.name.as_str(), d.version.as_str()))
            .collect();
        let known = names_of(&given, others)?;
        let real = files::resolved(&self.directory)
            .map_err(|e| PackageError::io("find the directory", &self.directory, e))?;
        let header = header::header(&real);

        let mut planned = Vec::with_capacity(documents.len());
        for document in documents {
            let Some(file) = known.get(&(document.name.as_str(), document.version.as_str())) else {
                continue; // every given skill has a name in `known`
            };
            planned.push(PlannedFile {
                skill: document.skill(),
                name: document.name.clone(),
                path: self.directory.join(file),
                text: text_of(document, &header)?,
                document: document.document.clone(),
            });
        }
        planned.sort_by(|a, b| a.skill.cmp(&b.skill));
        Ok(Plan {
            directory: self.directory.clone(),
            files: planned,
            known: known.into_values().collect(),
        })
    }
}

/// What a package is to hold, ready to be compared with what is there or to be written.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(super) directory: PathBuf,
    pub(super) files: Vec<PlannedFile>,
    /// The names of the files of all skills in the code, planned or not.
    pub(super) known: HashSet<String>,
}

impl Plan {
    /// The files, sorted by their skills' refs.
    pub fn files(&self) -> &[PlannedFile] {
        &self.files
    }
}

/// One file of a plan.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlannedFile {
    /// The skill's ref, `name@version`.
    pub skill: String,
    /// The skill's name.
    pub name: String,
    /// Where the file goes: below the directory as it was given to [`Package::open`].
    pub path: PathBuf,
    /// The document it holds.
    pub document: Value,
    /// Its whole text, header included.
    pub text: String,
}

/// The file name of every skill, planned or not, each of them possible and none of them shared.
fn names_of<'a>(
    given: &[(&'a str, &'a str)],
    others: &[(&'a str, &'a str)],
) -> Result<HashMap<(&'a str, &'a str), String>, PackageError> {
    let mut seen = HashSet::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for &(name, version) in given {
        if !seen.insert((name, version)) {
            return Err(PackageError::skill(
                &format!("{name}@{version}"),
                "is given twice",
            ));
        }
        versions.entry(name).or_default().push(version);
    }
    for &(name, version) in others {
        if seen.insert((name, version)) {
            versions.entry(name).or_default().push(version);
        }
    }

    let mut names = HashMap::new();
    let mut by_lower_case: HashMap<String, String> = HashMap::new();
    for (name, mut versions) in versions {
        versions.sort_by(|a, b| compare_versions(b, a));
        for (index, version) in versions.into_iter().enumerate() {
            let skill = format!("{name}@{version}");
            let file = file_name(name, version, index == 0).map_err(|reason| {
                PackageError::skill(&skill, &format!("cannot be exported: {reason}: rename it"))
            })?;
            if let Some(first) = by_lower_case.insert(file.to_lowercase(), skill.clone()) {
                return Err(PackageError::Skill(format!(
                    "{first} and {skill} would share the file {file} where upper and lower case are the same: rename one"
                )));
            }
            names.insert((name, version), file);
        }
    }
    Ok(names)
}

/// The file's text, proven to be readable and to mean what the document says.
fn text_of(skill: &SkillDocument, header: &str) -> Result<String, PackageError> {
    let refuse =
        |reason: String| PackageError::skill(&skill.skill(), &format!("cannot be exported: {reason}"));
    let document = &skill.document;
    if document["key"] != skill.name.as_str() {
        return Err(refuse(format!("its document has the key {}", document["key"])));
    }
    if document["spec"]["version"] != skill.version.as_str() {
        return Err(refuse(format!(
            "its document has the version {}",
            document["spec"]["version"]
        )));
    }
    if is_deeper(document, MAX_DEPTH) {
        return Err(refuse(format!("its document is deeper than {MAX_DEPTH} levels")));
    }
    let text = format!("{header}{}", emit(document));
    if text.len() > MAX_BYTES {
        return Err(refuse(format!(
            "its file would have {} bytes, at most {MAX_BYTES} are read",
            text.len()
        )));
    }
    match read(text.as_bytes()) {
        Ok(back) if drift::compare(&back, document).is_empty() => Ok(text),
        Ok(_) => Err(refuse("its file would be read back as something else".to_owned())),
        Err(error) => Err(refuse(format!("its file could not be read back: {error}"))),
    }
}

fn is_deeper(value: &Value, levels: usize) -> bool {
    let mut children: Box<dyn Iterator<Item = &Value>> = match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(map) => Box::new(map.values()),
        _ => return false,
    };
    levels == 0 || children.any(|child| is_deeper(child, levels - 1))
}
