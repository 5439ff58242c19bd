//! The program on the search path.

use std::env;
use std::path::{Path, PathBuf};

/// The program that `name` stands for: itself when it is a path, else the first of that name in the directories of `search`.
pub(super) fn program(name: &str, search: &str) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.components().count() > 1 || path.is_absolute() {
        return is_program(path).then(|| path.to_owned());
    }
    env::split_paths(search)
        // An empty entry would be the current directory, which nobody means.
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;

    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
