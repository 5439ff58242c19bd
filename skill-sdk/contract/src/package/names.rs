//! What a skill's file is called.
//!
//! A skill's name may hold any character but `@`, `/` and white space. A package is shared through
//! version control between Linux, macOS and Windows, so a name that one of them cannot store as a
//! file, stores under another name, or takes for another directory is refused everywhere.

use std::cmp::Ordering;

/// The longest file name that the common file systems store, in bytes.
const LONGEST_FILE_NAME: usize = 255;

/// The ending of every file that is written.
const ENDING: &str = ".yaml";

/// The file of one version of a skill: `<name>.yaml` for the newest, `<name>@<version>.yaml` for
/// the others.
///
/// # Errors
/// In words, when the name or the version cannot be part of a file name on every system.
pub(super) fn file_name(name: &str, version: &str, newest: bool) -> Result<String, String> {
    check_part("name", name)?;
    check_part("version", version)?;
    if name.starts_with('.') {
        return Err(format!(
            "the name \"{name}\" starts with a dot, which hides the file or leaves the directory"
        ));
    }
    let stem = name.split('.').next().unwrap_or_default();
    if is_windows_device(stem) {
        return Err(format!("the name \"{name}\" is the device \"{stem}\" on Windows"));
    }
    let file = if newest {
        format!("{name}{ENDING}")
    } else {
        format!("{name}@{version}{ENDING}")
    };
    if file.len() > LONGEST_FILE_NAME {
        return Err(format!(
            "its file name has {} bytes, at most {LONGEST_FILE_NAME} can be stored",
            file.len()
        ));
    }
    Ok(file)
}

/// The name of the skill that a file's name stands for.
pub(super) fn skill_of_file(file: &str) -> Option<&str> {
    file.strip_suffix(ENDING)?.split('@').next()
}

/// Which of two versions is newer ([`Ordering::Greater`]: the first).
///
/// Versions are compared part by part, parts being what stands between dots. Two parts of digits
/// compare as numbers of any length, so `2.10` is newer than `2.9`; two other parts compare as text.
/// A number is newer than a text, so `2.0` is newer than `2.0-beta`. Of two versions that agree so
/// far the one with more parts is newer. Versions that differ only in leading zeros compare as text,
/// so no two different versions are equal.
pub(super) fn compare_versions(a: &str, b: &str) -> Ordering {
    let mut left = a.split('.');
    let mut right = b.split('.');
    loop {
        let order = match (left.next(), right.next()) {
            (Some(x), Some(y)) => compare_parts(x, y),
            (Some(_), None) => Ordering::Greater,
            (None, Some(_)) => Ordering::Less,
            (None, None) => return a.cmp(b),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn compare_parts(x: &str, y: &str) -> Ordering {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    match (is_number(x), is_number(y)) {
        (true, true) => {
            let (x, y) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            x.len().cmp(&y.len()).then_with(|| x.cmp(y))
        }
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => x.cmp(y),
    }
}

fn check_part(what: &str, text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err(format!("the {what} is empty"));
    }
    let bad = text.chars().find(|&c| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '@' | '/' | '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*')
    });
    match bad {
        None => Ok(()),
        Some(c) => Err(format!(
            "the {what} \"{}\" holds {c:?}, which cannot be in a file name on every system",
            text.escape_debug()
        )),
    }
}

/// Names that Windows keeps for devices, whatever ending they have.
fn is_windows_device(stem: &str) -> bool {
    let stem = stem.to_ascii_lowercase();
    let is_port = |prefix: &str| {
        let mut number = stem.strip_prefix(prefix).unwrap_or_default().chars();
        let is_numbered = number.next().is_some_and(|c| "123456789¹²³".contains(c));
        is_numbered && number.next().is_none()
    };
    ["con", "prn", "aux", "nul"].contains(&stem.as_str()) || is_port("com") || is_port("lpt")
}
