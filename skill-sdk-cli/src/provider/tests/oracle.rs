//! The client libraries of the vendors as witnesses: the rules must find whatever they reject or change.
//!
//! The libraries know less than the APIs behind them, so the other direction holds for single rules only.

use clap::ValueEnum;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::{Value, json};

use super::cases::{Tool, cases};
use super::{Mode, Provider, check_tool, mode_of, ours, provider_of};

/// The rules whose violation the library of the vendor notices; it is silent about all others.
const NOTICED: &[&str] = &[
    "openai.strict_closed",
    "openai.strict_required",
    "openai.strict_ref",
    "anthropic.strict_closed",
    "anthropic.strict_type",
    "anthropic.strict_type_list",
    "anthropic.strict_keyword",
    "anthropic.strict_format",
    "anthropic.strict_min_items",
    "anthropic.strict_values",
    "anthropic.strict_ref",
    "gemini.openapi_keyword",
    "gemini.openapi_map",
    "gemini.openapi_type",
    "gemini.openapi_values",
];

#[derive(Debug, Deserialize)]
struct Answer {
    versions: BTreeMap<String, String>,
    /// For each tool: provider and mode, as in `openai.strict`, to what the library did.
    results: Vec<BTreeMap<String, Deed>>,
}

#[derive(Debug, Deserialize)]
struct Deed {
    verdict: String,
    #[serde(default)]
    why: String,
}

fn key(provider: Provider, mode: Mode) -> String {
    let mode = match mode {
        Mode::Always => "always",
        Mode::Strict => "strict",
        Mode::OpenApi => "openapi",
    };
    format!("{provider}.{mode}")
}

/// Asks the libraries about the tools; nothing, with a message, where they are not at hand.
fn ask(tools: &[Tool]) -> Option<Answer> {
    let Some(python) = std::env::var_os("SKILL_SDK_TEST_PYTHON") else {
        eprintln!("skipped: SKILL_SDK_TEST_PYTHON names no Python with the libraries of the vendors");
        return None;
    };
    let probe = Command::new(&python)
        .args(["-c", "import openai, anthropic, google.genai"])
        .stderr(Stdio::null())
        .status()
        .unwrap();
    if !probe.success() {
        eprintln!(
            "skipped: {} has not all libraries of the vendors",
            python.display()
        );
        return None;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/oracles/providers.py");
    let mut child = Command::new(&python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "inputs": tool.inputs}))
        .collect();
    let mut stdin = child.stdin.take().unwrap();
    stdin
        .write_all(json!({"tools": tools}).to_string().as_bytes())
        .unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{script} failed");
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn the_libraries_of_the_vendors_agree() {
    let mut tools = Vec::new();
    let mut about = Vec::new();
    for case in cases() {
        tools.extend([case.bad, case.good]);
        about.extend([Some((case.rule, true)), Some((case.rule, false))]);
    }
    tools.extend(ours::types().into_iter().map(|(_, schema, _)| Tool::of(schema)));
    tools.extend(ours::examples().into_iter().map(|(name, spec)| {
        Tool {
            name: spec["contract"]["inputs"]
                .as_object()
                .map_or_else(String::new, |_| name),
            description: spec["description"].as_str().unwrap_or_default().to_owned(),
            inputs: spec["contract"]["inputs"].clone(),
        }
    }));
    about.resize(tools.len(), None);
    let Some(answer) = ask(&tools) else { return };
    println!("asked {:?} about {} tools", answer.versions, tools.len());
    assert_eq!(answer.results.len(), tools.len());

    let mut wrong = String::new();
    for ((tool, about), results) in tools.iter().zip(about).zip(&answer.results) {
        // Whatever a library notices is a finding, in the same mode.
        let found: Vec<_> = Provider::value_variants()
            .iter()
            .flat_map(|provider| {
                let found = check_tool(*provider, &tool.name, &tool.description, &tool.inputs);
                found
                    .into_iter()
                    .map(|finding| key(*provider, mode_of(finding.rule)))
            })
            .collect();
        for (key_of_result, result) in results.iter().filter(|(_, result)| result.verdict != "same") {
            if !found.contains(key_of_result) {
                let (verdict, why, inputs) = (&result.verdict, &result.why, shown(&tool.inputs));
                wrong.push_str(&format!(
                    "{key_of_result} {verdict} and nothing was found: {why}\n  {inputs}\n"
                ));
            }
        }
        // And the rules of which that is known are noticed, by their bad case only.
        let Some((rule, is_bad)) = about else { continue };
        let result = &results[&key(provider_of(rule), mode_of(rule))];
        let noticed = result.verdict != "same";
        if is_bad && noticed != NOTICED.contains(&rule) {
            wrong.push_str(&format!(
                "{rule}: the library says {} {}\n",
                result.verdict, result.why
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn shown(schema: &Value) -> String {
    schema.to_string().chars().take(400).collect()
}
