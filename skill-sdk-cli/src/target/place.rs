//! A target as the user wrote it: a path says where to look, a word what to take there.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use skill_sdk::host::command::Failure;

use crate::cargo::absolute;

/// Where skills are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A manifest, of a package or of a workspace root.
    Manifest(PathBuf),
    /// A built program.
    Program(PathBuf),
}

/// Whether a target can only be a path.
pub(super) fn looks_like_path(target: &str) -> bool {
    target == "."
        || target == ".."
        || target.contains('/')
        || target.contains(MAIN_SEPARATOR)
        || Path::new(target)
            .extension()
            .is_some_and(|extension| extension == "toml")
}

/// The place of a word that is not known otherwise: a package directory or a file in the current directory.
pub(super) fn of_word(word: &str) -> Option<Place> {
    let path = Path::new(word);
    (path.is_file() || path.join("Cargo.toml").is_file())
        .then(|| of_path(word).ok())
        .flatten()
}

/// The place of a path.
pub(super) fn of_path(target: &str) -> Result<Place, Failure> {
    let path = absolute(Path::new(target))?;
    if path.is_dir() {
        let manifest = path.join("Cargo.toml");
        if manifest.is_file() {
            return Ok(Place::Manifest(manifest));
        }
        return Err(
            Failure::usage(format!("the directory `{target}` holds no Cargo.toml"))
                .help("name the directory of a package, or of a workspace root"),
        );
    }
    if !path.is_file() {
        return Err(Failure::usage(format!(
            "no file or directory is called `{target}`"
        )));
    }
    if path.extension().is_some_and(|extension| extension == "toml") {
        return Ok(Place::Manifest(path));
    }
    Ok(Place::Program(path))
}

/// The crate that the name of a skill starts with: `acme_skills.reports:build` and `acme_skills::reports` both name
/// `acme_skills`, and a ref or the name of a skill names none.
pub(super) fn crate_of(word: &str) -> Option<&str> {
    let (before, _) = word.split_once(':')?;
    before.split('.').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_no_path() {
        for path in [".", "..", "./app", "crates/acme", "/abs", "Cargo.toml"] {
            assert!(looks_like_path(path), "{path}");
        }
        for word in [
            "acme-skills",
            "git.merge@2",
            "git.merge",
            "acme_skills.reports:build",
            "acme_skills::reports",
        ] {
            assert!(!looks_like_path(word), "{word}");
        }
    }

    #[test]
    fn paths_are_what_they_point_at() {
        let here = env!("CARGO_MANIFEST_DIR");
        let manifest = Path::new(here).join("Cargo.toml");
        assert_eq!(of_path(here), Ok(Place::Manifest(manifest.clone())));
        assert_eq!(
            of_path(&manifest.to_string_lossy()),
            Ok(Place::Manifest(manifest))
        );
        assert!(matches!(
            of_path(&format!("{here}/src/main.rs")),
            Ok(Place::Program(_))
        ));
        assert!(
            of_path(&format!("{here}/src"))
                .unwrap_err()
                .to_string()
                .contains("holds no Cargo.toml")
        );
        assert!(
            of_path("./no-such-thing")
                .unwrap_err()
                .to_string()
                .contains("no file or directory")
        );
    }

    #[test]
    fn entrypoints_and_paths_name_their_crate() {
        assert_eq!(crate_of("acme_skills.reports:build"), Some("acme_skills"));
        assert_eq!(crate_of("acme_skills:build"), Some("acme_skills"));
        assert_eq!(crate_of("acme_skills::reports"), Some("acme_skills"));
        assert_eq!(crate_of("git.merge@2"), None);
    }
}
