//! The one silent failure of registration at link time: a dependency that no code names is not linked, and its skills
//! are absent.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use skill_sdk::host::protocol::SkillEntry;

use super::Program;
use super::graph::Resolved;
use crate::cargo;

/// A dependency with the library that contributed nothing and that the code of its user does not name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unreferenced {
    /// The package that depends on it.
    pub(crate) user: String,
    /// The package that is not linked.
    pub(crate) package: String,
    /// Its name in the code of the user.
    pub(crate) extern_name: String,
    /// The generated runner links it all the same; a program of the user's own would not.
    pub(crate) linked_here: bool,
}

/// The dependencies of a program's packages that are silently absent.
pub(crate) fn unreferenced(program: &Program, skills: &[SkillEntry]) -> Vec<Unreferenced> {
    let Some(graph) = &program.graph else {
        return Vec::new();
    };
    let linked_by_us: BTreeSet<&str> = program.packages.iter().map(String::as_str).collect();
    let mut found = BTreeSet::new();
    // Only code on this disk can be read and changed by the user.
    let users = graph
        .linked_with(&program.packages)
        .into_iter()
        .filter(|package| package.source.is_none());
    for user in users {
        for (extern_name, dependency) in graph.users_below(user) {
            let contributed = skills.iter().any(|skill| skill.package == dependency.name);
            let linked_here = contributed && linked_by_us.contains(dependency.name.as_str());
            if contributed != linked_here || is_named(user, extern_name) {
                continue;
            }
            found.insert(Unreferenced {
                user: user.name.clone(),
                package: dependency.name.clone(),
                extern_name: extern_name.to_owned(),
                linked_here,
            });
        }
    }
    found.into_iter().collect()
}

fn is_named(user: &Resolved, extern_name: &str) -> bool {
    names_in(cargo::directory(&user.manifest_path), extern_name, true)
}

/// Whether a Rust file at or below a directory names a crate. A `target` directory and other packages are passed over.
fn names_in(directory: &Path, name: &str, root: bool) -> bool {
    if !root && directory.join("Cargo.toml").exists() {
        return false;
    }
    let Ok(entries) = fs::read_dir(directory) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let path = entry.path();
        let file_name = entry.file_name();
        match entry.file_type() {
            // `tests` and the like are other crates: what they name does not link into the library.
            Ok(kind) if kind.is_dir() => {
                let skipped = root
                    && ["target", "tests", "benches", "examples"]
                        .iter()
                        .any(|skip| file_name == *skip);
                !skipped && !file_name.to_string_lossy().starts_with('.') && names_in(&path, name, false)
            }
            Ok(_) => {
                path.extension().is_some_and(|extension| extension == "rs")
                    && !(root && file_name == "build.rs")
                    && fs::read_to_string(&path).is_ok_and(|text| mentions(&text, name))
            }
            Err(_) => false,
        }
    })
}

/// Whether code names an identifier, comments of whole lines aside.
fn mentions(text: &str, name: &str) -> bool {
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .any(|line| {
            line.split(|character: char| !character.is_alphanumeric() && character != '_')
                .any(|word| word == name)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_named_by_code_only() {
        for (text, expected) in [
            ("use other_crate as _;", true),
            ("pub use ::other_crate::thing;", true),
            ("extern crate other_crate;", true),
            ("// use other_crate as _;", false),
            ("/// see other_crate", false),
            ("use other_crate_two as _;", false),
            ("", false),
        ] {
            assert_eq!(mentions(text, "other_crate"), expected, "{text}");
        }
    }

    #[test]
    fn only_the_code_of_the_package_itself_is_read() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        for place in [
            "tests/a.rs",
            "nested/src/lib.rs",
            "target/x.rs",
            "build.rs",
            "notes.txt",
        ] {
            let path = root.join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "use other_crate as _;").unwrap();
        }
        fs::write(root.join("nested/Cargo.toml"), "").unwrap();
        assert!(!names_in(root, "other_crate", true));
        fs::create_dir_all(root.join("src/deep")).unwrap();
        fs::write(root.join("src/deep/mod.rs"), "use other_crate as _;").unwrap();
        assert!(names_in(root, "other_crate", true));
    }
}
