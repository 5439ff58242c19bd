//! The public API of the library as a file for review. `UPDATE_SNAPSHOTS=1 cargo test -p skill-sdk-tests --test
//! public_api` regenerates it.
//!
//! rustdoc's JSON output is unstable, so the stable compiler needs an environment variable to write it. A wrapper sets
//! the variable for rustdoc only: `cargo` would rebuild all dependencies if it saw the variable.

#![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_public_api_matches_the_snapshot() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let wrapper = scratch.path().join("rustdoc");
    fs::write(
        &wrapper,
        "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec rustdoc \"$@\" -Z unstable-options --output-format json\n",
    )
    .unwrap();
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).unwrap();

    // Built with the features of the whole workspace, like the documentation, so that its dependencies are already built.
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let output = Command::new(env!("CARGO"))
        .current_dir(root)
        .args([
            "doc",
            "--quiet",
            "--workspace",
            "--lib",
            "--all-features",
            "--no-deps",
            "--locked",
        ])
        .arg("--target-dir")
        .arg(&target)
        .env("RUSTDOC", &wrapper)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut found = String::new();
    for package in ["skill_sdk", "skill_sdk_contract"] {
        let api = public_api::Builder::from_rustdoc_json(target.join(format!("doc/{package}.json")))
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .unwrap();
        for item in api.items() {
            found.push_str(&item.to_string());
            found.push('\n');
        }
    }

    let snapshot = root.join("tests/public-api.txt");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(&snapshot, &found).unwrap();
    }
    let expected = fs::read_to_string(&snapshot).unwrap_or_default();
    let missing: Vec<_> = expected
        .lines()
        .filter(|line| !found.lines().any(|l| l == *line))
        .collect();
    let new: Vec<_> = found
        .lines()
        .filter(|line| !expected.lines().any(|l| l == *line))
        .collect();
    assert!(
        missing.is_empty() && new.is_empty(),
        "the public API has changed; review it, then set UPDATE_SNAPSHOTS=1 to write tests/public-api.txt anew\n\
         removed: {missing:#?}\nadded: {new:#?}"
    );
}
