//! What a skill's file is called.
//!
//! A skill's name may hold any character but `@`, `/` and white space. A package is shared through version control between
//! Linux, macOS and Windows. So a name is rejected everywhere if one of them cannot store it as a file, stores it under another
//! name, or takes it for another directory.

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
