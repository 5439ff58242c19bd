//! What a crate takes on that only declares skills.

#![allow(clippy::unwrap_used, reason = "a panic of a test program is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The most crates of a build with default features, the user's own included.
const MOST: usize = 25;

/// What only features may bring.
const OPTIONAL: &[&str] = &[
    "anstream",
    "axum",
    "clap",
    "granit-parser",
    "hyper",
    "jsonschema",
    "regex",
    "reqwest",
    "rustix",
    "similar",
    "tokio",
    "tracing",
    "tracing-subscriber",
];

/// The crates of a build of a small user crate, by name and version.
fn crates(features: &str) -> BTreeSet<String> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let manifest = format!(
        "[package]\nname = \"acme-skills\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nschemars = \"1\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n\
         skill-sdk = {{ path = '{}', features = [{features}] }}\n",
        workspace.join("skill-sdk").display()
    );
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/lib.rs"), "").unwrap();
    // The versions that this workspace has, so that nothing is looked up.
    fs::copy(workspace.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--no-dedupe",
            "--format",
            "{p}",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let tree = String::from_utf8(output.stdout).unwrap();
    // The name and the version, without where it comes from.
    let named = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    tree.lines().filter(|line| !line.is_empty()).map(named).collect()
}

#[test]
fn declaring_skills_costs_few_crates_and_no_runtime() {
    let crates = crates("");
    assert!(crates.contains("acme-skills v1.0.0"), "{crates:?}");
    assert!(crates.len() <= MOST, "{} crates: {crates:#?}", crates.len());
    for name in OPTIONAL {
        let prefix = format!("{name} v");
        assert!(
            !crates.iter().any(|found| found.starts_with(&prefix)),
            "{name} belongs behind a feature"
        );
    }
}

#[test]
fn features_bring_what_they_say_and_no_more() {
    let has = |crates: &BTreeSet<String>, name: &str| {
        crates.iter().any(|found| found.starts_with(&format!("{name} v")))
    };
    let runtime = crates("\"runtime\"");
    assert!(has(&runtime, "tokio") && has(&runtime, "jsonschema") && has(&runtime, "tracing"));
    assert!(
        !has(&runtime, "axum") && !has(&runtime, "clap") && !has(&runtime, "granit-parser"),
        "{runtime:#?}"
    );
    assert!(
        !has(&runtime, "reqwest"),
        "schemas are never fetched: {runtime:#?}"
    );
    let llm = crates("\"llm\"");
    assert!(has(&llm, "reqwest") && has(&llm, "fancy-regex"), "{llm:#?}");
    assert!(
        !has(&llm, "axum") && !has(&llm, "clap") && !has(&llm, "sha2"),
        "{llm:#?}"
    );
    let without = crates("\"core\", \"http\"");
    assert!(
        !has(&without, "tempfile"),
        "only the model needs a folder: {without:#?}"
    );
    let package = crates("\"package\"");
    assert!(
        has(&package, "granit-parser") && !has(&package, "tokio"),
        "{package:#?}"
    );
    for (feature, brings) in [
        ("core", true),
        ("connections", true),
        ("testing", false),
        ("package", false),
    ] {
        let found = crates(&format!("\"{feature}\""));
        assert_eq!(has(&found, "reqwest"), brings, "{feature}: {found:#?}");
        assert_eq!(has(&found, "sha2"), brings, "{feature}: {found:#?}");
        assert!(
            !has(&found, "axum") && !has(&found, "jsonwebtoken"),
            "{feature}: {found:#?}"
        );
    }
    let http = crates("\"http\"");
    assert!(has(&http, "axum") && !has(&http, "clap"), "{http:#?}");
}
