//! From a file to the value of a secret.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::rejection::Rejection;
use super::{Secret, name, walk};
use crate::error::SkillError;

/// The largest file of a secret, in bytes.
pub(super) const MAX_BYTES: usize = 64 * 1024;

/// The secret in the file `name` in `dir`, without trailing line breaks. `None` if the file does not exist.
///
/// The file must be a regular file of at most 64 KiB of UTF-8. A blank file gives an empty secret. Links are followed within `dir`
/// only, at most 40 of them; `dir` itself may be a link. A link with a missing target counts as a missing file. Needs feature
/// `runtime` and Unix.
///
/// # Errors
/// - `secret_name_invalid`: the name is not `[a-z0-9][a-z0-9-]{0,62}`, or see [`check_secret_name`]
/// - `secret_unreadable` (retryable): this process may not read the file; `details {secret, path}`
/// - `secret_file_rejected`: `details {secret, reason}` with `outside_secrets_dir`, `symlink_swapped` (a part of the
///   path was exchanged during each of three attempts), `not_regular_file`, `too_large`, `not_utf8` or `unreadable`
///
/// [`check_secret_name`]: super::check_secret_name
pub fn read_secret_file(dir: &Path, name: &str) -> Result<Option<Secret>, SkillError> {
    name::check_secret_name(name)?;
    if !name::is_file_name(name) {
        return Err(name::invalid(format!(
            "the name of a secret's file must be {}",
            name::FORM
        )));
    }
    walk::read(dir, name)
        .and_then(|content| content.map(decode).transpose())
        .map_err(|rejection| rejection.into_error(name, dir))
}

/// The content of an open file, if it is not too large.
pub(super) fn read_bounded(file: File) -> Result<Vec<u8>, Rejection> {
    let mut content = Vec::new();
    // One byte more than the limit, so that a larger file is detected even if it grows.
    file.take(MAX_BYTES as u64 + 1)
        .read_to_end(&mut content)
        .map_err(|error| Rejection::from_io(&error))?;
    if content.len() <= MAX_BYTES {
        return Ok(content);
    }
    let limit = MAX_BYTES / 1024;
    let why = format!("it is larger than {limit} KiB; a secret must be smaller");
    Err(Rejection::rejected("too_large", why))
}

fn decode(content: Vec<u8>) -> Result<Secret, Rejection> {
    // The error is dropped, because it contains the content.
    let mut text = String::from_utf8(content).map_err(|_| {
        let why = "it is not UTF-8; write the value as UTF-8 text, for example in Base64";
        Rejection::rejected("not_utf8", why)
    })?;
    // As the platform does: the separators of ASCII are white space as well.
    let is_blank = |c: char| c.is_whitespace() || ('\x1c'..='\x1f').contains(&c);
    let end = if text.chars().all(is_blank) {
        0
    } else {
        text.trim_end_matches(['\r', '\n']).len()
    };
    text.truncate(end);
    Ok(Secret::new(text))
}
