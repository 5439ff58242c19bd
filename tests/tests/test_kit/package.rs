//! Package drift checks in a plain `cargo test`.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;
use std::process::Command;

use skill_sdk::skill;
use skill_sdk::testing::{assert_package_matches, assert_package_of};

/// One.
#[skill("kit.one", version = "1", side_effects = "none", risk = "low")]
fn one(word: String) -> String {
    word
}

/// Two.
#[skill("kit.two", version = "1", side_effects = "none", risk = "low")]
fn two() {}

/// The variable with the directory that the child process writes to.
const FOLDER: &str = "KIT_TEST_FOLDER";

#[test]
#[ignore = "the test below runs it in a child process"]
fn write_package() {
    let folder = std::env::var_os(FOLDER).unwrap();
    assert_package_of(&folder, [one::SKILL, two::SKILL]);
}

/// Lets this program write the files, as an author does.
fn update(folder: &Path) -> bool {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--ignored", "package::write_package"])
        .env(FOLDER, folder)
        .env("SKILL_SDK_UPDATE", "1")
        .status()
        .unwrap()
        .success()
}

fn failure(check: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = catch_unwind(check).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn files_are_compared_and_written_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let missing = failure({
        let path = path.clone();
        move || assert_package_of(path, [one::SKILL])
    });
    assert!(missing.contains("kit.one.yaml"), "{missing}");
    assert!(
        missing.contains("run the test with SKILL_SDK_UPDATE=1"),
        "{missing}"
    );

    assert!(update(&path));
    assert_package_of(&path, [one::SKILL, two::SKILL]);
    // The file of a skill outside of the selection is not reported as a leftover.
    assert_package_of(&path, [two::SKILL]);

    let file = path.join("skills/kit.one.yaml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("description: One.", "description: Uno.")).unwrap();
    let differs = failure({
        let path = path.clone();
        move || assert_package_of(path, [one::SKILL, two::SKILL])
    });
    assert!(
        differs.contains("-  description: Uno.") || differs.contains("Uno."),
        "{differs}"
    );
    assert_package_of(&path, [two::SKILL]);
    assert!(update(&path));
    assert_package_of(&path, [one::SKILL, two::SKILL]);
}

#[test]
fn all_skills_are_selected_by_default() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let missing = failure(move || assert_package_matches(path));
    for name in ["kit.one.yaml", "kit.two.yaml", "kit.waiting.yaml"] {
        assert!(missing.contains(name), "{missing}");
    }
}
