//! Looking at what is on disk without being surprised by it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::yaml::MAX_BYTES;

/// Reads the regular file at `path`, if there is anything: its bytes, cut one byte after [`MAX_BYTES`] so that a reader sees
/// it is too large. Links are not followed: a file of a package is a file. Pipes and devices are not opened, as that could
/// wait for ever.
///
/// # Errors
/// In words, for what is not a regular file or cannot be read.
pub(super) fn look(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let unreadable = |error: io::Error| format!("cannot be read: {error}");
    let kind = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if kind.is_symlink() {
        return Err("a symbolic link, not a file".to_owned());
    }
    if kind.is_dir() {
        return Err("a directory, not a file".to_owned());
    }
    if !kind.is_file() {
        return Err("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(Some(bytes))
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

/// `path` as an absolute path, links resolved as far as it exists.
pub(super) fn resolved(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let real = path.ancestors().find_map(|ancestor| {
        let missing = path.strip_prefix(ancestor).ok()?;
        Some(fs::canonicalize(ancestor).ok()?.join(missing))
    });
    Ok(real.unwrap_or(path))
}
