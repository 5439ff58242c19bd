//! The expansion for rust-analyzer compiles: with its `cfg`, every word of the attribute is a path into the library.

#![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// Every argument except those for files, and every enum value.
const SOURCE: &str = r#"//! Skills.
#![deny(missing_docs, warnings)]

mod sdk {
    pub(crate) use skill_sdk::*;
}

/// Merges a branch.
#[skill_sdk::skill(
    "git.merge", version = "1", side_effects = external_write, risk = medium, idempotency = natural, timeout = 60,
    retry = (3, 30), description = "Merges.", permissions = ["tasks.read"], preconditions = ["a"], postconditions = ["b"],
    cost_model = (unit = "page", estimate = 0.5), implementation = mcp("stdio:git", tool = "merge", audience = "git",
    scopes = ["git:write"]), inputs_schema = serde_json::json!({}), outputs_schema = serde_json::json!({}), title = "Merge",
    tags = ["git"], secrets = ["token"], config = ["REMOTE"], allowed_hosts = ["git.example.com"], examples = serde_json::json!([]),
    deprecated = "use git.merge@2",
)]
pub async fn merge(inputs: serde_json::Value) -> serde_json::Value {
    inputs
}

/// Reads.
#[sdk::skill("git.read", version = "1", side_effects = external_read, risk = high, idempotency = required,
    implementation = http("https://git.example.com", audience = "git", scopes = []), crate = sdk)]
pub fn read(branch: String) -> String {
    branch
}

/// Does nothing.
#[skill_sdk::skill("git.nothing", version = "1", side_effects = none, risk = low, idempotency = none, implementation = local)]
pub fn nothing() {
    /// Does nothing either.
    #[skill_sdk::skill("git.inside", version = "1", side_effects = "none", risk = "low", implementation = local("git:inside"))]
    fn inside() {}
    inside();
}
"#;

#[test]
fn attribute_words_are_paths_for_rust_analyzer() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let manifest = format!(
        "[package]\nname = \"acme-skills\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\nserde_json = \"1\"\nskill-sdk = {{ path = '{}' }}\n",
        workspace.join("skill-sdk").display()
    );
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("src/lib.rs"), SOURCE).unwrap();
    // The lock file of this workspace, so that nothing is downloaded.
    fs::copy(workspace.join("Cargo.lock"), folder.path().join("Cargo.lock")).unwrap();
    let check = |flags: &str| {
        let output = Command::new(env!("CARGO"))
            .args(["check", "--offline", "--quiet", "--target-dir"])
            .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor"))
            .current_dir(folder.path())
            .env("RUSTFLAGS", flags)
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(check("--cfg rust_analyzer"), (true, String::new()));
    // An unknown word is an error there, which proves that the words above were looked up.
    let misspelt = SOURCE.replacen("    deprecated = ", "    deprecatde = ", 1);
    fs::write(folder.path().join("src/lib.rs"), misspelt).unwrap();
    let (_, errors) = check("--cfg rust_analyzer");
    assert!(errors.contains("no `deprecatde` in `"), "{errors}");
}
