//! Skills for other programs on the machine: lines, Python modules, configurations of clients.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use super::fixture::{Fixture, skill};

fn fixture(name: &str) -> Fixture {
    Fixture::workspace(name, &[("skills", &skill("s.one", "1", "one"))])
}

#[test]
fn serve_local_answers_lines() {
    let fixture = fixture("local");
    let mut host = fixture
        .command(&["serve", "local", "s.one"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = host.stdin.take().unwrap();
    input
        .write_all(b"{\"id\": 1, \"skill\": \"s.one@1\", \"inputs\": {\"text\": \"a\"}}\n")
        .unwrap();
    let mut line = String::new();
    BufReader::new(host.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(answer, json!({"id": 1, "outputs": {"text": "a"}, "cost": null}));
    drop(input);
    assert_eq!(host.wait().unwrap().code(), Some(0));
}

#[test]
fn serve_mcp_stdio_answers_clients_of_both_eras() {
    let fixture = fixture("mcp");
    let mut host = fixture
        .command(&["serve", "mcp-stdio", "s.one"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let modern = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let arguments = json!({"text": "a"});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": modern}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}),
        json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {
            "name": "s.one", "arguments": arguments}}),
        json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
            "name": "s.one", "arguments": arguments, "_meta": modern}}),
    ];
    let mut input = host.stdin.take().unwrap();
    for message in &messages {
        writeln!(input, "{message}").unwrap();
    }
    // The end of the input ends the host once all is answered.
    drop(input);
    let mut answers: Vec<Value> = BufReader::new(host.stdout.take().unwrap())
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect();
    assert_eq!(host.wait().unwrap().code(), Some(0));
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers.len(), 5, "{answers:?}");
    assert_eq!(answers[0]["result"]["resultType"], "complete");
    assert_eq!(answers[1]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(answers[2]["result"]["tools"][0]["name"], "s_one");
    for called in &answers[3..] {
        assert_eq!(called["result"]["structuredContent"], arguments, "{called}");
    }
}

#[test]
fn a_bridge_is_written_and_compared() {
    let fixture = fixture("bridge");
    let written = fixture.run("bridge python --out bridge");
    assert_eq!(written.code, 0, "{}", written.err);
    for file in [
        "__init__.py",
        "_skill_sdk/__init__.py",
        "_skill_sdk/skills.json",
        "_skill_sdk/skills",
    ] {
        assert!(fixture.root().join("bridge/skills").join(file).exists(), "{file}");
    }
    assert!(
        written.err.contains("CONTROL_PLANE_SKILLS_LOCAL_PACKAGES=skills"),
        "{}",
        written.err
    );
    assert_eq!(fixture.run("bridge python --out bridge --check").out, "ok\n");
    fixture.write("crates/skills/src/lib.rs", &skill("s.one", "2", "one"));
    let drift = fixture.run("bridge python --out bridge --check");
    assert_eq!(drift.code, 1, "{}", drift.err);
    assert!(
        drift.out.contains("skills.json differs from the code"),
        "{}",
        drift.out
    );
}

#[test]
fn clients_are_told_paths_that_hold_anywhere() {
    let fixture = fixture("clients");
    let told = fixture.run("mcp-config s.one --client claude-code --name acme");
    let config: Value = serde_json::from_str(&told.out).unwrap();
    let server = &config["mcpServers"]["acme"];
    assert_eq!(server["type"], "stdio");
    let command = server["command"].as_str().unwrap();
    assert!(std::path::Path::new(command).is_absolute(), "{command}");
    let args: Vec<&str> = server["args"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(args[..4], ["serve", "mcp-stdio", "s.one", "--manifest-path"]);
    assert!(
        args[4].ends_with("Cargo.toml") && std::path::Path::new(args[4]).is_absolute(),
        "{args:?}"
    );
    // A folder with the name of the package is not the package.
    fixture.write("skills/data.txt", "");
    for (target, expected) in [("skills", "skills"), ("crates/skills", "/crates/skills")] {
        let told = fixture.run(&format!("mcp-config {target} --client claude-code --name acme"));
        let config: Value = serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{}", told.err));
        let named = config["mcpServers"]["acme"]["args"][2].as_str().unwrap();
        assert!(named.ends_with(expected), "{named}");
        assert_eq!(
            std::path::Path::new(named).is_absolute(),
            target.contains('/'),
            "{named}"
        );
    }
    fixture
        .run("mcp-config --client claude-desktop --url https://skills.example.com/mcp")
        .fails(2, &["takes no URL", "Connectors"]);
    // Nothing is built for skills that are hosted elsewhere, and no sources are needed.
    let elsewhere = "mcp-config --client claude-code --url https://skills.example.com/mcp --manifest-path /no/such/Cargo.toml";
    let told = fixture.run(elsewhere);
    let config: Value = serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{}", told.err));
    assert_eq!(
        config["mcpServers"]["skills"]["url"],
        "https://skills.example.com/mcp"
    );
    fixture.run("mcp-config s.two").fails(2, &["s.two"]);
    // Of two versions the newest is the tool.
    let versions =
        skill("s.one", "1", "one") + &skill("s.one", "2", "two").replace("use skill_sdk::skill;", "");
    fixture.write("crates/skills/src/lib.rs", &versions);
    let told = fixture.run("mcp-config s.one --client claude-code");
    let config: Value = serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{}", told.err));
    assert!(config["mcpServers"]["skills"].is_object(), "{config}");
    fixture
        .run("mcp-config --name my.skills")
        .fails(2, &["letters, digits"]);
}

#[test]
fn a_server_is_called_as_the_package_that_was_named() {
    let fixture = Fixture::workspace("named", &[("acme-billing", &skill("b.one", "1", "one"))]).package(
        "acme-desk",
        "acme-billing = { path = \"../acme-billing\" }\n",
        &format!("use acme_billing as _;\n{}", skill("d.one", "1", "one")),
    );
    for package in ["acme-billing", "acme-desk"] {
        let told = fixture.run(&format!("mcp-config {package} --client cursor"));
        let config: Value = serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{}", told.err));
        let names: Vec<_> = config["mcpServers"].as_object().unwrap().keys().collect();
        assert_eq!(names, [package], "{config}");
    }
}

#[test]
fn tools_that_providers_reject_are_said_at_the_start() {
    let source = r#"
/// Whether the name is free.
#[skill_sdk::skill("user.name", version = "1", side_effects = "none", risk = "low")]
pub fn user_name(#[schemars(regex(pattern = "^(?!admin)"))] name: String) -> bool {
    !name.is_empty()
}
"#;
    let fixture = Fixture::workspace("rejected", &[("skills", source)]);
    let checked = fixture.run("check --provider openai,gemini");
    let error = "error: user.name@1: /contract/inputs/properties/name: the pattern `^(?!admin)` has `(?!`";
    assert_eq!(checked.code, 1, "{}", checked.err);
    assert!(checked.out.starts_with(error), "{}", checked.out);
    for command in ["mcp-config --client cursor", "export --package package"] {
        let told = fixture.run(command);
        assert_eq!(told.code, 0, "{}", told.err);
        let warning = "clients of openai cannot use the tools of this server: user.name@1: ";
        assert!(told.err.contains(warning), "{command}: {}", told.err);
    }
    let told = fixture.run("serve mcp-stdio --all-versions");
    assert!(told.err.contains("[openai.pattern]"), "{}", told.err);
}
