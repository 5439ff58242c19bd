//! Looking at what is on disk without being surprised by it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::yaml::MAX_BYTES;

/// What is at a path.
pub(super) enum Found {
    Nothing,
    /// A regular file: its bytes, cut one byte after [`MAX_BYTES`] so that a reader sees it is too
    /// large.
    File(Vec<u8>),
    /// Not a regular file, or one that cannot be read: in words.
    Unusable(String),
}

/// Reads the regular file at `path`. Links are not followed: a file of a package is a file. Pipes
/// and devices are not opened, as that could wait for ever.
pub(super) fn look(path: &Path) -> Found {
    look_at(path, MAX_BYTES + 1)
}

/// The first `most` bytes of the regular file at `path`; none when it is something else.
pub(super) fn head(path: &Path, most: usize) -> Option<Vec<u8>> {
    match look_at(path, most) {
        Found::File(bytes) => Some(bytes),
        Found::Nothing | Found::Unusable(_) => None,
    }
}

fn look_at(path: &Path, most: usize) -> Found {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Found::Nothing,
        Err(error) => return Found::Unusable(format!("cannot be read: {error}")),
    };
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return Found::Unusable("a symbolic link, not a file".to_owned());
    }
    if kind.is_dir() {
        return Found::Unusable("a directory, not a file".to_owned());
    }
    if !kind.is_file() {
        return Found::Unusable("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX);
    match File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)) {
        Ok(_) => Found::File(bytes),
        Err(error) => Found::Unusable(format!("cannot be read: {error}")),
    }
}

/// The names of the entries of `directory` that are valid text, sorted; none of them when it does
/// not exist.
pub(super) fn entries(directory: &Path) -> io::Result<Vec<String>> {
    let listing = match fs::read_dir(directory) {
        Ok(listing) => listing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in listing {
        names.extend(entry?.file_name().into_string().ok());
    }
    names.sort_unstable();
    Ok(names)
}

/// `path` as an absolute path without `..`, links resolved as far as it exists.
pub(super) fn resolved(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    for (levels, ancestor) in path.ancestors().enumerate() {
        if let Ok(real) = fs::canonicalize(ancestor) {
            let missing: Vec<_> = path.components().rev().take(levels).collect();
            return Ok(missing.into_iter().rev().fold(real, |mut path, component| {
                match component {
                    std::path::Component::ParentDir => {
                        path.pop();
                    }
                    other => path.push(other),
                }
                path
            }));
        }
    }
    Ok(path)
}
