//! How cargo is called: nothing of the user's is touched, and nothing is built twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::fixture::{Fixture, head, skill};

fn one_package(name: &str) -> Fixture {
    Fixture::workspace(name, &[("skills", &skill("s.one", "1", "one"))])
}

/// The generated files and the programs of a fixture's runners, with the times of their last change.
fn built(fixture: &Fixture) -> Vec<(PathBuf, SystemTime)> {
    let runners = fixture.target_directory().join("skill-sdk/runners");
    let root = fixture.root().to_str().unwrap();
    let mut found = Vec::new();
    for runner in fs::read_dir(runners).unwrap().flatten() {
        let directory = runner.path();
        let manifest = fs::read_to_string(directory.join("Cargo.toml")).unwrap_or_default();
        if !manifest.contains(&format!("{root}/")) {
            continue;
        }
        let program = format!(
            "debug/{}{}",
            runner.file_name().to_str().unwrap(),
            std::env::consts::EXE_SUFFIX
        );
        let files = ["Cargo.toml", "Cargo.lock", "src/main.rs"].map(|name| directory.join(name));
        for path in files
            .into_iter()
            .chain([fixture.target_directory().join(program)])
        {
            let changed = fs::metadata(&path).unwrap().modified().unwrap();
            found.push((path, changed));
        }
    }
    found.sort();
    found
}

#[test]
fn a_second_run_builds_nothing_and_the_users_files_stay() {
    let fixture = one_package("warm");
    let files = fixture.files();
    let first = fixture.run("list");
    assert_eq!(first.refs(), ["s.one@1"]);
    let before = built(&fixture);
    assert_eq!(before.len(), 4, "one runner: {before:?}");
    let second = fixture.run("list");
    assert_eq!(
        (second.out, built(&fixture)),
        (first.out, before),
        "nothing may be written again"
    );
    assert_eq!(
        fixture.files(),
        files,
        "no lock file, no target directory, no change"
    );

    // An edit arrives.
    fixture.write("crates/skills/src/lib.rs", &skill("s.two", "1", "two"));
    assert_eq!(fixture.run("list").refs(), ["s.two@1"]);
}

#[test]
fn quiet_when_it_works_and_cargos_words_when_it_does_not() {
    let fixture = one_package("words");
    let ran = fixture.run("list");
    assert!(
        ran.err
            .lines()
            .all(|line| !line.contains("Compiling") && !line.contains("Finished")),
        "{}",
        ran.err
    );
    let verbose = fixture.run("list -v");
    assert!(
        verbose.err.contains("Finished") && verbose.err.contains("packages: skills"),
        "{}",
        verbose.err
    );
    fixture.write("crates/skills/src/lib.rs", "pub fn broken() -> u8 { \"text\" }\n");
    fixture.run("list --features skill-sdk/testing").fails(
        2,
        &[
            "error[E0308]",
            "crates/skills/src/lib.rs:1",
            "error: package `skills` does not build",
            "help: this is the build of skills itself; reproduce with `cargo build -p skills",
        ],
    );
}

#[test]
fn locked_means_the_versions_of_the_users_lock_file() {
    let fixture = one_package("locked");
    fixture
        .run("list --locked")
        .fails(2, &["does not exist", "Cargo.lock", "cargo generate-lockfile"]);
    assert_eq!(fixture.cargo("generate-lockfile --offline").code, 0);
    let files = fixture.files();
    assert_eq!(fixture.run("list --locked").refs(), ["s.one@1"]);
    assert_eq!(fixture.run("list --frozen").refs(), ["s.one@1"]);
    assert_eq!(fixture.files(), files);

    // A dependency that the lock file does not know.
    let fixture = fixture
        .file("extra/Cargo.toml", &head("extra"))
        .file("extra/src/lib.rs", "")
        .package(
            "skills",
            "extra = { path = \"../../extra\" }\n",
            &skill("s.one", "1", "one"),
        );
    let files = fixture.files();
    fixture.run("list --locked").fails(
        2,
        &["needs to be updated, and --locked forbids it", "extra 0.1.0"],
    );
    assert_eq!(fixture.run("list").refs(), ["s.one@1"]);
    assert_eq!(
        fixture.files(),
        files,
        "the lock file of the user is never written"
    );
}

#[test]
fn the_runner_follows_the_users_lock_file() {
    let fixture = one_package("follows");
    assert_eq!(fixture.cargo("generate-lockfile --offline").code, 0);
    assert_eq!(fixture.run("list --offline").refs(), ["s.one@1"]);
    // A package of that name in the workspace: the copied lock file must be made again.
    let fixture = fixture
        .file("extra/Cargo.toml", &head("extra"))
        .file("extra/src/lib.rs", "")
        .package(
            "skills",
            "extra = { path = \"../../extra\" }\n",
            &skill("s.one", "1", "one"),
        );
    assert_eq!(fixture.cargo("generate-lockfile --offline").code, 0);
    assert_eq!(fixture.run("list --locked --offline").refs(), ["s.one@1"]);
}

#[test]
fn what_is_not_on_this_machine_is_not_fetched_offline() {
    let fixture = Fixture::workspace("offline", &[]).package(
        "skills",
        "no-such-crate-of-anybody-1f0c = \"1\"\n",
        &skill("s.one", "1", "one"),
    );
    fixture.run("list --offline").fails(
        2,
        &["no-such-crate-of-anybody-1f0c", "could not resolve", "--offline"],
    );
}

#[test]
fn another_machine_is_refused() {
    let fixture = one_package("foreign");
    fixture
        .run("list --target wasm32-unknown-unknown")
        .fails(2, &["does not run on this machine", "--target"]);
    fixture.write(
        ".cargo/config.toml",
        "[build]\ntarget = \"wasm32-unknown-unknown\"\n",
    );
    fixture
        .run("list")
        .fails(2, &["`build.target` in", "does not run on this machine"]);
}

#[test]
fn the_configuration_of_the_workspace_holds() {
    let source = format!(
        "const _: &str = env!(\"FROM_THE_CONFIGURATION\");\n{}",
        skill("s.one", "1", "one")
    );
    let fixture = Fixture::workspace("configuration", &[("skills", &source)])
        .file(".cargo/config.toml", "[env]\nFROM_THE_CONFIGURATION = \"yes\"\n");
    let root = fixture.root().to_str().unwrap();
    let ran = fixture.run_with(&["list", root], |command| {
        command.current_dir("/");
    });
    assert_eq!(ran.refs(), ["s.one@1"]);
}

#[test]
fn the_flags_of_the_build_are_understood() {
    let fixture = one_package("flags");
    let shared = fixture.target_directory().display();
    let line = format!("list -j 2 --config profile.dev.debug-assertions=true --target-dir {shared}");
    let ran = fixture.run_with(&line.split(' ').collect::<Vec<_>>(), |command| {
        command.env("CARGO_TARGET_DIR", "unused");
    });
    assert_eq!(ran.refs(), ["s.one@1"]);
    assert!(
        !fixture.root().join("unused").exists(),
        "the flag is stronger than the variable"
    );
    fixture
        .run("list --release --profile dev")
        .fails(2, &["cannot be used with"]);
    fixture.run("list --profile nowhere").fails(2, &["nowhere"]);
}

#[test]
fn the_target_directory_may_be_named_in_any_way() {
    let fixture = one_package("dotted-target");
    let shared = fixture.target_directory();
    let name = shared.file_name().unwrap();
    let (around, from_the_root) = (shared.join("..").join(name), Path::new("../..").join(name));
    for directory in [around.as_path(), &from_the_root] {
        let ran = fixture.run_with(&["list"], |command| {
            command.env("CARGO_TARGET_DIR", directory);
        });
        assert_eq!(ran.refs(), ["s.one@1"], "{}", directory.display());
        let ran = fixture.run_with(&["list", "--target-dir", directory.to_str().unwrap()], |_| {});
        assert_eq!(ran.refs(), ["s.one@1"], "{}", directory.display());
    }
}

#[test]
fn a_missing_cargo_is_said() {
    let ran = one_package("no-cargo").run_with(&["list"], |command| {
        command.env("CARGO", "/no/such/cargo");
    });
    ran.fails(2, &["could not run `/no/such/cargo`", "help: install Rust"]);
}
