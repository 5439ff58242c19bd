//! What a skill's file is called.
//!
//! A skill's name may hold any character but `@`, `/` and white space. A package is shared through
//! version control between Linux, macOS and Windows, so a name that one of them cannot store as a
//! file, stores under another name, or takes for another directory is refused everywhere.

/// The longest file name that the common file systems store, in bytes.
const LONGEST_FILE_NAME: usize = 255;

/// The ending of every file that is written.
pub(super) const ENDING: &str = ".yaml";

/// The file of one version of a skill: `<name>.yaml` for the newest, `<name>@<version>.yaml` for
/// the others.
///
/// # Errors
/// In words, when the name or the version cannot be part of a file name on every system.
pub fn file_name(name: &str, version: &str, newest: bool) -> Result<String, String> {
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

/// The name and, for `<name>@<version>.yaml`, the version that a file's name stands for.
pub(super) fn parse_file_name(file: &str) -> Option<(&str, Option<&str>)> {
    let stem = file.strip_suffix(ENDING)?;
    Some(match stem.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (stem, None),
    })
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
    const PLAIN: [&str; 4] = ["con", "prn", "aux", "nul"];
    let stem = stem.to_ascii_lowercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| {
            matches!(
                rest,
                "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"
            )
        })
    };
    PLAIN.contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}
