//! The recorded facts about the context of a call.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]

use std::time::Duration;

use serde_json::{Value, json};
use skill_sdk::LlmUsage;
use skill_sdk::context::{States, settings_values};
use skill_sdk::pipeline::{Call, Meta, SkillSet};
use skill_sdk::testing::invoke;
use skill_sdk::{Skill, SkillContext, is_valid_code};
use skill_sdk_tests::cases::{self, Case, Replay};
use skill_sdk_tests::sample;

/// The cases that are not replayed here, each with the reason.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "the type of an amount is a number",
        &["cost-string-amount", "cost-bool-amount"],
    ),
    (
        "settings are a shared reference, which does not allow assignment",
        &["settings-readonly"],
    ),
    (
        "exceptions with attributes exist only in the language of the reference; other errors are in the pipeline tests",
        &[
            "from-exception-plain",
            "from-exception-bad",
            "from-exception-int",
            "from-exception-truthy",
        ],
    ),
    (
        "replayed by the tests of the model client",
        &[
            "provider-openai-default",
            "provider-openai-explicit",
            "provider-openai-nothing",
            "provider-openai-nokey",
            "provider-openai-nomodels",
            "provider-claude-badtimeout",
        ],
    ),
    (
        "replayed by the tests of the core client",
        &["core-none", "core-url"],
    ),
];

fn context(timeout: Option<Duration>) -> SkillContext {
    let mut meta = Meta::new("test");
    meta.timeout = timeout;
    SkillContext::new("a@1", meta)
}

#[test]
fn recorded_facts_match() {
    let mut replay = Replay::new(ELSEWHERE);
    for case in &cases::load("context.json") {
        replay.run_blocking(case, || fact(case));
    }
    replay.finish();
}

fn fact(case: &Case) {
    match case.id.split('-').next().unwrap() {
        "cost" => cost(case),
        "settings" => {
            let values = settings_values(Some(case.input["raw"].clone()));
            assert_eq!(Value::Object(values), case.expect["settings"], "{}", case.id);
        }
        "deadline" => deadline(case),
        "code" => {
            let code = case.input["code"].as_str().unwrap();
            assert_eq!(is_valid_code(code), case.expect["valid"] == true, "{}", case.id);
        }
        "local" | "call" => call(case),
        "testing" => testing(case),
        _ => panic!("this kind of case has no replay"),
    }
}

fn cost(case: &Case) {
    let context = context(None);
    for op in case.input["ops"].as_array().unwrap() {
        if op[0] == "add" {
            context.add_cost(op[1].as_str().unwrap(), op[2].as_f64().unwrap());
            continue;
        }
        // The default response of the recorded mock.
        let defaults = json!([10, 5, 15]);
        let usage = op[1].get("usage").unwrap_or(&defaults);
        let tokens = |index: usize| usage[index].as_u64().unwrap_or_default();
        let model = op[1]["model"].as_str().unwrap_or("fake-model");
        let mut usage = LlmUsage::new(model).tokens(tokens(0), tokens(1));
        usage.total_tokens = tokens(2);
        usage.cost_usd = op[1]["cost"].as_f64();
        context.add_llm_usage(&usage);
    }
    let document = context.cost_document().unwrap_or(Value::Null);
    // Compared as text: the order of the fields is part of the document.
    assert_eq!(
        document.to_string(),
        case.expect["cost"].to_string(),
        "{}",
        case.id
    );
}

fn deadline(case: &Case) {
    let timeout = case.input["timeout"].as_u64().map(Duration::from_secs);
    let elapsed = Duration::from_secs(case.input["elapsed"].as_u64().unwrap());
    // A call whose timeout is the rest of the recorded one.
    let context = context(timeout.map(|timeout| timeout.saturating_sub(elapsed)));
    let left = context
        .remaining()
        .map(|left| (left.as_secs_f64() * 10.0).round() / 10.0);
    // Remaining time is zero here after the deadline, not negative.
    let expected = case.expect["remaining"].as_f64().map(|left| left.max(0.0));
    assert_eq!(left, expected, "{}", case.id);
    let error = context.check_deadline().err();
    let got = error.map_or(Value::Null, |error| json!([error.code(), error.is_retryable()]));
    let expected = match &case.expect["error"] {
        Value::Null => Value::Null,
        error => json!([error["code"], error["retryable"]]),
    };
    assert_eq!(got, expected, "{}", case.id);
}

fn skill(case: &Case) -> &'static Skill {
    let reference = case.input["skill"].as_str().unwrap();
    sample::SKILLS
        .iter()
        .find(|skill| skill.reference() == reference)
        .unwrap()
}

/// A call in the same process. A timeout of 0 means the timeout of the contract.
fn call(case: &Case) {
    let skill = skill(case);
    let host = SkillSet::with_states([skill], States::default()).unwrap();
    let call = Call::json(case.input["inputs"].to_string(), Meta::new("local"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let completed = runtime.block_on(host.call(host.get(skill.reference()).unwrap(), call));
    let (Ok(document) | Err(document)) = completed.into_document();
    let document: Value = serde_json::from_str(&document).unwrap();
    if let Some(outputs) = case.expect.get("outputs") {
        assert_eq!(
            document["outputs"].to_string(),
            outputs.to_string(),
            "{}",
            case.id
        );
    }
    if let Some(cost) = case.expect.get("cost") {
        assert_eq!(&document["cost"], cost, "{}", case.id);
    }
    assert_eq!(
        without_messages(&document["error"]),
        without_messages(&case.expect["error"]),
        "{}",
        case.id
    );
}

/// Without the messages, which differ from the reference.
fn without_messages(error: &Value) -> Value {
    let mut error = error.clone();
    for violation in error["details"]["errors"].as_array_mut().into_iter().flatten() {
        violation["message"] = Value::Null;
    }
    error
}

fn testing(case: &Case) {
    let result = invoke(skill(case), &case.input["inputs"])
        .idempotency_key(case.input["idempotencyKey"].as_str().unwrap())
        .settings(case.input["settings"].clone())
        .blocking()
        .unwrap();
    assert_eq!(
        result.outputs.to_string(),
        case.expect["outputs"].to_string(),
        "{}",
        case.id
    );
    assert_eq!(
        result.cost.unwrap_or(Value::Null),
        case.expect["cost"],
        "{}",
        case.id
    );
}
