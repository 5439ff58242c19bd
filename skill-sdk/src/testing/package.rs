//! Whether the catalog package is up to date with the code.

use std::env;
use std::path::Path;

use super::fail;
use crate::contract::Spec;
use crate::contract::package::{Drift, Finding, PackageError, Plan};
use crate::registry::{Registry, Skill};

/// The environment variable that makes the assertions write the files instead of comparing them.
const UPDATE: &str = "SKILL_SDK_UPDATE";

/// Asserts that the catalog package in `directory` is up to date with all skills of this program, so that a plain `cargo test`
/// catches drift.
///
/// `directory` is relative to the folder of the crate's manifest, where `cargo test` runs tests. With `SKILL_SDK_UPDATE=1` in the
/// environment the files are written instead of compared. The implementation in the files must be the one that the attribute
/// declares.
///
/// Skills that only tests declare are included. A test program with such skills must use [`assert_package_of`].
///
/// ```no_run
/// #[test]
/// fn the_package_is_up_to_date() {
///     skill_sdk::testing::assert_package_matches("package");
/// }
/// ```
///
/// # Panics
/// If the files differ, with the differences, or if the files or the skills are invalid.
#[track_caller]
pub fn assert_package_matches(directory: impl AsRef<Path>) {
    let skills = all_skills();
    if skills.is_empty() {
        fail(
            "no skill is linked into this test program: name the crate with the skills, as in `use acme_skills as _;`",
        );
    }
    check(directory.as_ref(), &skills, &[]);
}

/// Asserts that the files of the given skills are up to date, like [`assert_package_matches`].
///
/// Generated files of other skills of this program are ignored.
///
/// # Panics
/// If the files differ, with the differences, or if the files or the skills are invalid.
#[track_caller]
pub fn assert_package_of(directory: impl AsRef<Path>, skills: impl IntoIterator<Item = &'static Skill>) {
    let skills: Vec<_> = skills.into_iter().collect();
    check(directory.as_ref(), &skills, &all_skills());
}

#[track_caller]
fn all_skills() -> Vec<&'static Skill> {
    match Registry::collect() {
        Ok(registry) => registry.iter().collect(),
        Err(error) => fail(&error.to_string()),
    }
}

#[track_caller]
fn check(directory: &Path, skills: &[&'static Skill], others: &[&'static Skill]) {
    let update = env::var_os(UPDATE).is_some_and(|value| !value.is_empty() && value != "0");
    match differences(directory, skills, others, update) {
        Ok(drift) if drift.is_empty() => {}
        Ok(drift) => {
            let lines: String = drift.iter().map(shown).collect();
            fail(&format!(
                "the files of {} are not up to date with the code:\n{lines}run the test with {UPDATE}=1 to write the files",
                directory.display()
            ))
        }
        Err(problem) => fail(&problem),
    }
}

fn differences(
    directory: &Path,
    skills: &[&'static Skill],
    others: &[&'static Skill],
    update: bool,
) -> Result<Vec<Drift>, String> {
    let document = |skill: &&'static Skill| {
        let described = skill.described().map_err(|problems| {
            let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
            lines.join("\n")
        })?;
        Ok(Spec::document(skill.name(), described.document()))
    };
    let documents = skills.iter().map(document).collect::<Result<Vec<_>, String>>()?;
    let others: Vec<_> = others
        .iter()
        .filter(|other| skills.iter().all(|skill| skill.reference() != other.reference()))
        .map(|other| (other.name(), other.version()))
        .collect();
    let text = |error: PackageError| error.to_string();
    let plan = Plan::new(directory, &documents, &others).map_err(text)?;
    if update {
        plan.write().map_err(text)?;
    }
    plan.check().map_err(text)
}

/// A finding, with its diff.
fn shown(drift: &Drift) -> String {
    let diff = match &drift.finding {
        Finding::Differs { diff, .. } => diff.as_str(),
        _ => "",
    };
    format!("{drift}\n{diff}")
}
