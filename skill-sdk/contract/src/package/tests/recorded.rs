//! The recorded drift of the reference SDK, and its exported files.
//!
//! Deliberately different: a file with an anchor, an unquoted date, a list, nothing or no UTF-8 in it
//! is a reported difference with its place, not `ok` or a crash.

use serde_json::{Value, json};

use super::super::Finding;
use super::super::yaml::{emit, read};
use super::Sandbox;

fn load(file: &str) -> Option<Value> {
    let path = format!("{}/../../../shared/cases/{file}", env!("CARGO_MANIFEST_DIR"));
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("skipped: the recorded cases are not at {path}");
        return None;
    };
    Some(serde_json::from_slice(&bytes).expect("recorded cases are JSON"))
}

/// `math.add@1`, which all drift cases are about.
fn math_add(api_version: &Value) -> Option<Value> {
    let skills = load("skills.json")?;
    let skill = skills["skills"]
        .as_array()?
        .iter()
        .find(|s| s["ref"] == "math.add@1")?;
    let document = json!({
        "apiVersion": api_version,
        "kind": "Skill",
        "key": skill["name"],
        "spec": {
            "version": skill["version"],
            "description": skill["description"],
            "sideEffects": skill["sideEffects"],
            "riskLevel": skill["risk"],
            "contract": skill["contract"],
        },
    });
    Some(document)
}

fn bytes_of(file: &Value) -> Vec<u8> {
    match file["hex"].as_str() {
        None => file.as_str().expect("text").as_bytes().to_vec(),
        Some(hex) => (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex"))
            .collect(),
    }
}

#[test]
fn every_drift_case() {
    let Some(contract) = load("contract.json") else {
        return;
    };
    let cases: Vec<&Value> = contract["cases"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|case| case["id"].as_str().is_some_and(|id| id.starts_with("drift-")))
        .collect();
    let identical = read(&bytes_of(&cases[0]["input"]["file"])).expect("the first case is a good file");
    let skills = [math_add(&identical["apiVersion"]).expect("math.add is recorded")];

    for case in &cases {
        let id = case["id"].as_str().expect("an id");
        let sandbox = Sandbox::new();
        sandbox.put("math.add.yaml", bytes_of(&case["input"]["file"]));
        for extra in case["input"]["extraFiles"].as_array().expect("a list") {
            sandbox.put(extra.as_str().expect("a name"), "anything: [1\n");
        }
        let found = sandbox.plan(&skills).check().expect("a check");
        let told: Vec<String> = found
            .iter()
            .flat_map(|d| d.to_string().lines().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let told = told.join("\n");
        let expected: &[&str] = match id {
            "drift-identical" | "drift-comments" | "drift-json" | "drift-crlf" | "drift-extra-file" => &[],
            "drift-edited-risk" => &["  spec.riskLevel: file \"high\", code \"low\""],
            "drift-version-int" => &["  spec.version: file 1, code \"1\""],
            "drift-reordered-list" => &["  spec.contract.inputs.required[0]: file \"b\", code \"a\""],
            "drift-extra-top-field" => &["  extra: file 1, not in the code"],
            "drift-wrong-key" => &[" holds the key \"math.sub\", but its name says \"math.add\""],
            "drift-no-spec" => &["  spec: missing in the file, code {"],
            "drift-spec-null" => &["  spec: file null, code {"],
            "drift-empty-file" => &[":1:1: the file holds no document"],
            "drift-list-file" => &[": the document is an array"],
            "drift-malformed" => &[":1:4: not YAML: "],
            "drift-multi-doc" => &[":50:1: a second document starts here"],
            "drift-anchor" => &[":9:17: anchors (`&name`) are rejected"],
            "drift-bad-utf8" => &[":1:1: the file is not UTF-8 at byte 0"],
            "drift-date-scalar" => &[":50:9: YAML 1.1 and YAML 1.2 readers may take 2026-01-01"],
            other => panic!("no expectation for {other}"),
        };
        assert_eq!(found.is_empty(), expected.is_empty(), "{id}: {told}");
        for text in expected {
            assert!(told.contains(text), "{id}: {told}");
        }
        if let [drift] = found.as_slice()
            && let Finding::Differs { diff, .. } = &drift.finding
        {
            assert!(diff.starts_with("--- "), "{id}: {diff}");
        }
    }
}

/// A file of the reference means the same to our reader, or is rejected where readers differ; and
/// a file it wrote is recognized as generated.
#[test]
fn every_recorded_file_is_read() {
    let Some(contract) = load("contract.json") else {
        return;
    };
    let (mut seen, mut same_text) = (0, 0);
    for case in contract["cases"].as_array().expect("a list") {
        let (Some(id), Some(yaml)) = (case["id"].as_str(), case["expect"]["yaml"].as_str()) else {
            continue;
        };
        assert!(super::super::header::is_generated(yaml.as_bytes()), "{id}");
        seen += 1;
        match read(yaml.as_bytes()) {
            Ok(document) => {
                if let Some(contract) = case["expect"].get("contract") {
                    assert_eq!(&document["spec"]["contract"], contract, "{id}");
                }
                let body = yaml
                    .lines()
                    .filter(|l| !l.starts_with('#'))
                    .map(|l| format!("{l}\n"));
                same_text += usize::from(emit(&document) == body.collect::<String>());
            }
            Err(error) => {
                assert_eq!(id, "contract-yaml.tricky@1.0", "{error}");
                let reason = "the character U+2028 is not the same to every YAML reader";
                assert!(error.to_string().contains(reason), "{error}");
            }
        }
    }
    assert!(
        seen > 10 && same_text > seen / 2,
        "{same_text} of {seen} have the same layout"
    );
}
