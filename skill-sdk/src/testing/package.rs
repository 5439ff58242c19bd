//! Whether the catalog package says what the code says.

use std::env;
use std::path::Path;

use super::fail;
use crate::contract::Spec;
use crate::contract::package::{Drift, Finding, PackageError, Plan};
use crate::registry::{Registry, Skill};

/// The variable that makes the checks write the files in place of comparing them.
const UPDATE: &str = "SKILL_SDK_UPDATE";

/// Checks that the files of the catalog package in `directory` say what the code of all skills of this program says, so
/// that a plain `cargo test` catches drift.
///
/// `directory` is below the folder of the crate's manifest, where `cargo test` runs tests. With `SKILL_SDK_UPDATE=1` in the
/// environment the files are written in place of being compared. The implementation in the files must be the one that the
/// attribute declares.
///
/// Skills that only tests declare count too: a test program that has some names those that are meant with
/// [`assert_package_of`].
///
/// ```no_run
/// #[test]
/// fn the_package_is_up_to_date() {
///     skill_sdk::testing::assert_package_matches("package");
/// }
/// ```
///
/// # Panics
/// When they differ, with the differences; when the files or the skills cannot be used.
#[track_caller]
pub fn assert_package_matches(directory: impl AsRef<Path>) {
    check(directory.as_ref(), &all_skills(), &[]);
}

/// Checks the files of the skills given, like [`assert_package_matches`] those of all.
///
/// Generated files of other skills of this program are left alone.
///
/// # Panics
/// When they differ, with the differences; when the files or the skills cannot be used.
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
                "the package {} does not say what the code says:\n{lines}run the test with {UPDATE}=1 to write the files",
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

/// A difference, with its diff.
fn shown(drift: &Drift) -> String {
    let diff = match &drift.finding {
        Finding::Differs { diff, .. } => diff.as_str(),
        _ => "",
    };
    format!("{drift}\n{diff}")
}
