//! The files that the bridge writes, and only those: what others wrote stays.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use skill_sdk::host::command::Failure;

/// Rejects paths with files that this command did not write.
pub(super) fn refuse_foreign(path: &Path, header: &str) -> Result<(), Failure> {
    match fs::read(path) {
        Ok(text) if is_generated(&text, header) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(()),
        Err(error) => Err(unreadable(path, &error)),
        Ok(_) => Err(Failure::usage(format!(
            "{} exists and was not written by the bridge",
            path.display()
        ))
        .help("name another directory with --out, or remove the file")),
    }
}

/// Whether a text begins as every generated file does.
pub(super) fn is_generated(text: &[u8], header: &str) -> bool {
    let start = &text[..text.len().min(header.len() + 64)];
    start.windows(header.len()).any(|part| part == header.as_bytes())
}

/// The generated modules below a directory. Links are not followed.
pub(super) fn generated_modules(directory: &Path, header: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else {
        return found;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(generated_modules(&path, header));
        } else if path.file_name().is_some_and(|name| name == "__init__.py")
            && fs::read(&path).is_ok_and(|text| is_generated(&text, header))
        {
            found.push(path);
        }
    }
    found
}

/// Writes a file in one step: who reads it meanwhile reads the old one.
pub(super) fn put(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.{}", std::process::id()));
    let written = fs::write(&temporary, bytes)
        .and_then(|()| set_mode(&temporary, mode))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// What could not be written, and why.
pub(super) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot write {}: {error}", path.display()))
}

/// What could not be read, and why.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::usage(format!("cannot read {}: {error}", path.display()))
}
