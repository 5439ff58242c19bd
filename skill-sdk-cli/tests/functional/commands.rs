//! What the commands print.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use super::fixture::{Fixture, skill};

fn fixture(name: &str) -> Fixture {
    let noisy = format!(
        "pub fn noise() {{ println!(\"noise\"); }}\n{}",
        skill("s.one", "1", "one")
    );
    Fixture::workspace(name, &[("skills", &noisy)])
}

#[test]
fn list_and_contract_print_results_only() {
    let fixture = fixture("list");
    assert_eq!(fixture.run("list").out, "s.one@1\tskills:one\tnone/low\n");
    let rows: Value = serde_json::from_str(&fixture.run("list --format json").out).unwrap();
    assert_eq!(rows[0]["ref"], "s.one@1");
    assert_eq!(rows[0]["entrypoint"], "skills:one");
    let contract = fixture.run("contract s.one");
    assert!(contract.out.starts_with("{\n  \"inputs\": {"), "{}", contract.out);
    let contract: Value = serde_json::from_str(&contract.out).unwrap();
    assert_eq!(contract["timeoutSeconds"], 60);
}

#[test]
fn invoke_runs_one_skill() {
    let fixture = fixture("invoke");
    let good = fixture.run_with(&["invoke", "s.one", "--input", r#"{"text": "hello"}"#], |_| {});
    assert_eq!(good.code, 0, "{}", good.err);
    let document: Value = serde_json::from_str(&good.out).unwrap();
    assert_eq!(document["outputs"]["text"], "hello");
    let bad = fixture.run_with(&["invoke", "s.one@1", "--input", r#"{"fail": true}"#], |_| {});
    assert_eq!(bad.code, 1, "{}", bad.err);
    let document: Value = serde_json::from_str(&bad.out).unwrap();
    assert!(document["error"]["code"].is_string(), "{}", bad.out);
    for (input, expected) in [
        ("{", "is not JSON"),
        ("[]", "must be a JSON object"),
        ("@nowhere", "could not read `nowhere`"),
    ] {
        fixture
            .run_with(&["invoke", "s.one", "--input", input], |_| {})
            .fails(2, &[expected]);
    }
    let file = fixture.file("input.json", r#"{"text": "from a file"}"#);
    assert!(
        file.run("invoke s.one --input @input.json")
            .out
            .contains("from a file")
    );
}

#[test]
fn serve_becomes_the_host() {
    let fixture = fixture("serve");
    // Said before anything is built.
    fixture.run("serve http s.one").fails(
        2,
        &["SKILL_SDK_IAM_ISSUER, SKILL_SDK_AUDIENCE, SKILL_SDK_JWKS_URL must be set"],
    );
    // Builds first: the time of a build is not part of the test.
    fixture
        .run("serve http --allow-anonymous s.two")
        .fails(2, &["no target matches `s.two`"]);
    let mut child = fixture
        .command(&["serve", "http", "--allow-anonymous", "--port", "0", "s.one"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let address = line
        .trim()
        .strip_prefix("listening on http://")
        .unwrap_or_else(|| panic!("{line:?}"));
    assert!(!address.ends_with(":0"), "the real port is printed: {address}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let fixture = fixture("pipe");
    assert_eq!(fixture.run("list").code, 0);
    let mut child = fixture
        .command(&["contract", "s.one"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn errors_are_plain_without_a_terminal_and_usage_is_2() {
    let fixture = fixture("plain");
    let ran = fixture.run("list ./nowhere");
    assert_eq!(ran.err, "error: no file or directory is called `./nowhere`\n");
    for line in ["lost", "list --format xml", "serve", "invoke s.one --env X"] {
        assert_eq!(fixture.run(line).code, 2, "{line}");
    }
    let help = fixture.run("list --help");
    assert_eq!(help.code, 0);
    for part in [
        "--locked",
        "--target-dir",
        "git.merge@2",
        "Cargo options",
        "Examples:\n  skill-sdk list\n",
    ] {
        assert!(help.out.contains(part), "{part}");
    }
}

#[test]
fn export_check_and_the_rules() {
    let fixture = Fixture::workspace(
        "export",
        &[
            ("skills", &skill("s.one", "1", "one")),
            ("more", &skill("m.one", "1", "one")),
        ],
    );
    assert_eq!(fixture.run("check").code, 0);
    fixture
        .run("export --package catalog --protocol http")
        .fails(2, &["--endpoint"]);
    fixture.write("catalog/README.md", "a package");
    let written = fixture.run("export --package catalog");
    assert_eq!(written.code, 0, "{}", written.err);
    assert!(
        fixture.root().join("catalog/skills/s.one.yaml").is_file(),
        "{}",
        written.out
    );
    assert_eq!(fixture.run("export --package catalog --check").code, 0);
    // One package is named, or its directory: the file of the other one is not a leftover.
    for target in ["skills", "crates/skills", "s.one"] {
        let one = fixture.run(&format!("export --package catalog --check {target}"));
        assert_eq!(one.code, 0, "{target}: {}{}", one.out, one.err);
    }
    fixture.write("crates/more/src/lib.rs", &skill("m.two", "1", "one"));
    assert_eq!(fixture.run("export --package catalog --check").code, 1);
}
