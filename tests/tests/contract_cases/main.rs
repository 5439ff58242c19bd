//! The recorded contracts, implementation documents and declarations.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]
#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "the signatures of the skills are part of the tests"
)]

mod equivalence;
mod skills;

use serde_json::{Value, json};
use skill_sdk::contract::{
    API_VERSION, Auth, Implementation, Risk, Spec, Stage, Violation, validate_name, validate_spec,
};
use skill_sdk::{Skill, SkillDescription};
use skill_sdk_tests::cases::{self, Case, Replay};
use skill_sdk_tests::sample;

/// The cases that are not replayed here, each with the reason.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "needs the model client",
        &["contract-doc.summarize@1", "contract-doc.summarize_later@1"],
    ),
    (
        "the head of a file: tests of the package, `package/tests/writing.rs`",
        &["schema-comment"],
    ),
    (
        "files and their drift: replayed in `package/tests/recorded.rs`",
        &[
            "drift-identical",
            "drift-edited-risk",
            "drift-version-int",
            "drift-reordered-list",
            "drift-comments",
            "drift-json",
            "drift-crlf",
            "drift-extra-top-field",
            "drift-wrong-key",
            "drift-no-spec",
            "drift-spec-null",
            "drift-empty-file",
            "drift-list-file",
            "drift-malformed",
            "drift-multi-doc",
            "drift-anchor",
            "drift-bad-utf8",
            "drift-extra-file",
            "drift-date-scalar",
        ],
    ),
    (
        "commands: in the tests of the CLI and of `host/command`; targets are crates here, not modules",
        &[
            "cli-list-one",
            "cli-list-two",
            "cli-list-notskill",
            "cli-list-missing-module",
            "cli-list-missing-attr",
            "cli-contract",
            "cli-contract-module-many",
            "cli-invoke-error",
            "cli-invoke-unicode",
            "cli-invoke-file",
            "cli-invoke-badjson",
            "cli-export",
            "cli-check-missing",
            "cli-export-mcp",
            "cli-export-local-forced",
            "cli-check-other-endpoint",
            "cli-check-other-audience",
            "cli-check-same-http",
        ],
    ),
    ("two skills of one ref: `duplicates.rs`", &["cli-list-duplicate"]),
    (
        "specific to the language of the reference: in Rust every type is written, and a skill can have any number of parameters (`registry.rs`)",
        &[
            "decl-no-output",
            "decl-no-params",
            "decl-three-params",
            "decl-int-version",
        ],
    ),
    ("replayed by the tests of the MCP server", &["decl-mcp-duplicate"]),
];

/// Skills whose schemas are handwritten here and derived in the recording.
const BY_HAND_HERE: &[(&str, &str)] = &[("ext.write@1", "outputs")];

#[test]
fn recorded_facts_match() {
    let mut replay = Replay::new(ELSEWHERE);
    for case in &cases::load("contract.json") {
        replay.run_blocking(case, || fact(case));
    }
    replay.finish();
}

fn fact(case: &Case) {
    match case.id.split('-').next().unwrap() {
        "contract" => contract(case),
        "impl" => implementation(case),
        "decl" => declaration(case),
        _ => panic!("this kind of case has no replay"),
    }
}

fn described(reference: &str) -> &'static SkillDescription {
    let mut all = sample::SKILLS.iter().chain(skills::ALL);
    let skill: &'static Skill = all.find(|skill| skill.reference() == reference).unwrap();
    skill.described().unwrap()
}

/// The recorded description of a skill.
fn recorded(reference: &str) -> Value {
    let skills = cases::document("skills.json").unwrap();
    let skills = skills["skills"].as_array().unwrap();
    skills
        .iter()
        .find(|skill| skill["ref"] == reference)
        .unwrap()
        .clone()
}

/// The order of fields and everything but derived schemas must be as recorded. Handwritten schemas must be unchanged.
fn contract(case: &Case) {
    let reference = case.input["skill"].as_str().unwrap();
    let described = described(reference);
    let (mut got, mut expected) = (json!(described.contract()), case.expect["contract"].clone());
    for side in ["inputs", "outputs"] {
        // A schema without a dialect was written by hand.
        let by_hand = expected[side].get("$schema").is_none();
        if by_hand {
            assert_eq!(
                got[side].to_string(),
                expected[side].to_string(),
                "{reference} {side}"
            );
        } else if !BY_HAND_HERE.contains(&(reference, side)) {
            assert_eq!(
                got[side]["$schema"], expected[side]["$schema"],
                "{reference} {side}"
            );
        }
        got[side] = Value::Null;
        expected[side] = Value::Null;
    }
    if let Some(entrypoint) = expected["implementation"].get_mut("entrypoint")
        && entrypoint.as_str().unwrap().contains(':')
    {
        // Entrypoints depend on the language.
        *entrypoint = got["implementation"]["entrypoint"].clone();
    }
    // Compared as text: the order of fields is part of the format.
    assert_eq!(got.to_string(), expected.to_string(), "{reference}");
    let keys: Vec<_> = described.document().as_object().unwrap().keys().collect();
    assert_eq!(json!(keys), case.expect["spec_keys"], "{reference}");

    let recorded = recorded(reference);
    assert_eq!(
        described.document()["sideEffects"],
        recorded["sideEffects"],
        "{reference}"
    );
    assert_eq!(described.document()["riskLevel"], recorded["risk"], "{reference}");
    if skills::ALL.iter().any(|skill| skill.reference() == reference) {
        assert_eq!(
            described.document()["description"],
            recorded["description"],
            "{reference}"
        );
    }
    let document = Spec::document(recorded["name"].as_str().unwrap(), described.document());
    let keys: Vec<_> = document.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["apiVersion", "kind", "key", "spec"], "{reference}");
    let yaml = case.expect["yaml"].as_str().unwrap();
    assert!(yaml.contains(&format!(
        "\napiVersion: {API_VERSION}\nkind: Skill\nkey: {}\n",
        recorded["name"].as_str().unwrap()
    )));
}

/// All recorded skills, including those without a case in this file.
#[test]
fn permissions_conditions_and_costs_match() {
    if cases::document("skills.json").is_none() {
        return;
    }
    for reference in [
        "types.zoo@3",
        "pre.post@1",
        "math.add@1",
        "many.errors@1",
        "desc.multi@1",
        "empty.io@1",
    ] {
        let (mut got, mut expected) = (
            json!(described(reference).contract()),
            recorded(reference)["contract"].clone(),
        );
        for document in [&mut got, &mut expected] {
            for member in ["inputs", "outputs", "implementation"] {
                document[member] = Value::Null;
            }
        }
        assert_eq!(got.to_string(), expected.to_string(), "{reference}");
    }
}

fn implementation(case: &Case) {
    let wanted = &case.input["implementation"];
    let text = |name: &str| wanted[name].as_str();
    let auth = Auth::new(text("audience").unwrap_or_default(), []);
    let endpoint = text("endpoint").unwrap_or_default().to_owned();
    let entrypoint = json!(described("math.add@1").contract().implementation)["entrypoint"].clone();
    let mut expected = case.expect["implementation"].clone();
    let got = match text("protocol").unwrap() {
        "http" => Implementation::Http { endpoint, auth },
        "mcp" => Implementation::mcp(endpoint, text("tool").unwrap_or("math.add"), auth),
        "local" => {
            let own = text("entrypoint");
            if own.is_none() {
                expected["entrypoint"] = entrypoint.clone();
            }
            Implementation::local(own.unwrap_or(entrypoint.as_str().unwrap()))
        }
        other => panic!("{other}"),
    };
    assert_eq!(json!(got).to_string(), expected.to_string(), "{}", case.id);
    if case.id == "impl-http" {
        let exported = Implementation::http("${SVC}//", "math.add@1", Auth::new("acme-skills", []));
        assert_eq!(exported, got);
    }
}

/// Declarations that the reference accepts or rejects. This SDK also checks all publication rules at this point.
fn declaration(case: &Case) {
    let mut spec = described("math.add@1").document().clone();
    let violated = |spec: &Value| -> Vec<String> {
        validate_spec(spec, Stage::Source)
            .into_iter()
            .filter(Violation::is_blocking)
            .map(|found| found.pointer)
            .collect()
    };
    assert!(violated(&spec).is_empty());
    let expected: &[&str] = match case.id.as_str() {
        "decl-risk" => {
            assert!(serde_json::from_value::<Risk>(case.input["risk"].clone()).is_err());
            spec["riskLevel"] = case.input["risk"].clone();
            &["/riskLevel"]
        }
        "decl-idempotency" => {
            spec["contract"]["idempotency"] = case.input["idempotency"].clone();
            &["/contract/idempotency"]
        }
        "decl-unsafe-retry" | "decl-write-once" => {
            spec["sideEffects"] = case.input["side_effects"].clone();
            spec["contract"]["retryPolicy"] =
                json!({"maxAttempts": case.input["retry"][0], "backoffSeconds": case.input["retry"][1]});
            if case.expect["ok"] == true {
                &[]
            } else {
                &["/contract/retryPolicy/maxAttempts"]
            }
        }
        // The reference checks these at publication.
        "decl-timeout-zero" => {
            spec["contract"]["timeoutSeconds"] = case.input["timeout"].clone();
            &["/contract/timeoutSeconds"]
        }
        "decl-empty-name" => {
            assert!(validate_name(case.input["name"].as_str().unwrap()).is_some());
            &[]
        }
        _ => panic!("this case has no replay"),
    };
    assert_eq!(violated(&spec), expected, "{}", case.id);
}
