//! The dependencies of a crate that only declares skills.

#![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The maximum number of crates in a build with default features, including the user's crate.
const MOST: usize = 26;

/// The maximum number of crates in a build with one feature on Linux, including the user's crate. Raising a number is a
/// decision; lowering one is welcome. On other systems the numbers differ, so only the names are checked there.
const MOST_WITH: [(&str, usize); 13] = [
    ("runtime", 95),
    ("auth", 168),
    ("http", 179),
    ("mcp", 107),
    ("mcp-http", 182),
    ("llm", 158),
    ("core", 162),
    ("connections", 164),
    ("telemetry", 197),
    ("package", 30),
    ("host", 118),
    ("testing", 97),
    ("full", 228),
];

/// Crates, and the only features that may add them. Users pay only for the services they use.
const BROUGHT_BY: [(&str, &[&str]); 17] = [
    ("anstream", &["host", "telemetry"]),
    (
        "aws-lc-rs",
        &[
            "auth",
            "http",
            "mcp-http",
            "llm",
            "core",
            "connections",
            "telemetry",
        ],
    ),
    ("axum", &["http", "mcp-http"]),
    ("clap", &["host", "telemetry"]),
    ("granit-parser", &["package", "host", "telemetry"]),
    (
        "hyper",
        &[
            "auth",
            "http",
            "mcp-http",
            "llm",
            "core",
            "connections",
            "telemetry",
        ],
    ),
    ("jiff", &["connections", "testing"]),
    ("jsonwebtoken", &["auth", "http", "mcp-http"]),
    ("opentelemetry", &["telemetry"]),
    ("prometheus-client", &["http", "mcp-http"]),
    (
        "reqwest",
        &[
            "auth",
            "http",
            "mcp-http",
            "llm",
            "core",
            "connections",
            "telemetry",
        ],
    ),
    (
        "rustls",
        &[
            "auth",
            "http",
            "mcp-http",
            "llm",
            "core",
            "connections",
            "telemetry",
        ],
    ),
    (
        "sha2",
        &["auth", "http", "mcp", "mcp-http", "core", "connections"],
    ),
    ("similar", &["package", "host", "telemetry"]),
    ("tempfile", &["llm"]),
    ("tracing-opentelemetry", &["telemetry"]),
    ("tracing-subscriber", &["telemetry", "host"]),
];

/// The crates that only features may add.
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

/// The crates in the build of a small user crate, by name and version.
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
    // The lock file of this workspace, so that nothing is downloaded.
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
    // The name and the version, without the source.
    let named = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
    tree.lines().filter(|line| !line.is_empty()).map(named).collect()
}

#[test]
fn default_features_add_few_crates_and_no_runtime() {
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

fn has(crates: &BTreeSet<String>, name: &str) -> bool {
    crates.iter().any(|found| found.starts_with(&format!("{name} v")))
}

#[test]
fn each_feature_adds_only_its_own_crates() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../skill-sdk/Cargo.toml"));
    let manifest = manifest.unwrap();
    let (_, features) = manifest.split_once("\n[features]\n").unwrap();
    let features = features.split("\n[").next().unwrap().lines();
    let named: BTreeSet<_> = features
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
        .filter(|name| *name != "default")
        .collect();
    let listed: BTreeSet<_> = MOST_WITH.iter().map(|(name, _)| *name).collect();
    assert_eq!(named, listed, "every feature has a limit here");

    for (feature, most) in MOST_WITH {
        let crates = crates(&format!("\"{feature}\""));
        assert!(
            crates.len() <= most || !cfg!(target_os = "linux"),
            "`{feature}` adds {} crates, but at most {most} are allowed: {crates:#?}",
            crates.len()
        );
        for (name, by) in BROUGHT_BY {
            let expected = feature == "full" || by.contains(&feature);
            assert_eq!(has(&crates, name), expected, "{name} with `{feature}`");
        }
    }
}
