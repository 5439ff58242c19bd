//! From the secrets directory to an open file with what the standard library has on every system.
//!
//! The operating system resolves the links and the result is checked. So, unlike the walk on Unix, an exchange between
//! the check and the opening is not noticed, a link may leave the directory when it comes back, and a link to nothing
//! is no file wherever it points.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::file::read_bounded;
use super::refusal::Refusal;

/// The content of the file `name` in `dir`, or `None` when there is none.
pub(super) fn read(dir: &Path, name: &str) -> Result<Option<Vec<u8>>, Refusal> {
    match open(dir, name) {
        Ok(file) => read_bounded(file?).map(Some),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(Refusal::from_io(&error)),
    }
}

fn open(dir: &Path, name: &str) -> io::Result<Result<File, Refusal>> {
    let dir = dir.canonicalize()?;
    // With the real path of the directory in front, no name means a device, as `nul` alone would on Windows.
    let path = dir.join(name).canonicalize()?;
    if !path.starts_with(&dir) {
        return Ok(Err(Refusal::outside()));
    }
    // Before it is opened, for opening something else than a file may wait.
    if !fs::metadata(&path)?.is_file() {
        return Ok(Err(Refusal::not_regular()));
    }
    let file = File::open(&path)?;
    Ok(if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(Refusal::not_regular())
    })
}
