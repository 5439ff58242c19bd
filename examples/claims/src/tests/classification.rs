//! Tests of `claims.classify@1`.

use serde::Serialize;
use serde_json::{Value, json};
use skill_sdk::SkillError;
use skill_sdk::testing::{FakeLlm, Invoke, assert_valid_contract, invoke};

use crate::classification::classify;

#[test]
fn the_contract_is_valid() {
    assert_valid_contract(classify::SKILL);
}

#[test]
fn the_samples_are_up_to_date() {
    let samples = &classify::SKILL.described().unwrap().metadata()["examples"];
    for sample in samples.as_array().unwrap() {
        let result = without_a_model(&sample["inputs"]).blocking().unwrap();
        assert_eq!(result.outputs, sample["outputs"], "{}", sample["name"]);
    }
}

#[test]
fn without_a_model_the_cost_is_one_claim_and_no_tokens() {
    let result = without_a_model(claim(&json!({}))).blocking().unwrap();
    assert_eq!(result.cost, Some(json!({"units": {"claim": 1.0}})));
    assert_eq!(result.outputs["answered_by"], "stand-in");
}

#[test]
fn severity_depends_on_amount_and_words() {
    for (change, severity) in [
        (json!({}), "low"),
        (json!({"amount": 1999.99}), "low"),
        (json!({"amount": 2000}), "medium"),
        (json!({"amount": 50_000}), "high"),
        (json!({"text": "My wife is in hospital."}), "high"),
        // Only whole words match.
        (json!({"text": "A firewall and a card."}), "low"),
    ] {
        let result = without_a_model(claim(&change)).blocking().unwrap();
        assert_eq!(result.outputs["severity"], severity, "{change}");
    }
}

#[test]
fn invalid_inputs_are_rejected_with_their_path() {
    for (change, path) in [
        (json!({"subject": ""}), "/subject"),
        (json!({"subject": "a".repeat(201)}), "/subject"),
        (json!({"text": "a".repeat(8001)}), "/text"),
        (json!({"policy": "mo-204817"}), "/policy"),
        (json!({"policy": "XX-204817"}), "/policy"),
        (json!({"amount": -1}), "/amount"),
        (json!({"amount": "3200"}), "/amount"),
        (json!({"max_reasons": 11}), "/max_reasons"),
        (json!({"priority": 1}), "/"),
    ] {
        let error = without_a_model(claim(&change)).blocking().unwrap_err();
        assert_eq!(error.code(), "input_contract_violation", "{change}");
        let errors = &error.details().unwrap()["errors"];
        assert_eq!(errors[0]["path"], path, "{change}: {errors}");
    }
}

/// The claim of all tests, with the changes of one test.
fn claim(change: &Value) -> Value {
    let mut claim = json!({"subject": "A question", "text": "When are you open?"});
    for (key, value) in change.as_object().unwrap() {
        claim[key] = value.clone();
    }
    claim
}

/// A response of the model.
fn answer() -> Value {
    json!({
        "category": "travel", "severity": "low", "confidence": 0.75,
        "reasons": ["a lost suitcase", "a missed flight", "an airport", "a hotel"],
    })
}

#[test]
fn the_configured_model_is_used() {
    let fake = FakeLlm::always(answer());
    let change = json!({
        "subject": "A suitcase", "text": "It is gone. Call 8 912 345-67-89.", "policy": "TR-204817", "amount": 300,
    });
    let result = invoke(classify::SKILL, claim(&change))
        .llm(&fake)
        .blocking()
        .unwrap();
    let mut expected = answer();
    expected["answered_by"] = json!("model");
    expected["reasons"].as_array_mut().unwrap().truncate(3);
    assert_eq!(result.outputs, expected);
    let llm = json!({
        "calls": 1, "promptTokens": 10, "completionTokens": 5, "totalTokens": 15, "models": ["fake-model"],
    });
    assert_eq!(result.cost, Some(json!({"llm": llm, "units": {"claim": 1.0}})));
    let [call] = fake.calls().try_into().unwrap();
    assert_eq!(
        call.prompt(),
        "Subject: A suitcase\nPolicy: TR-204817\nAmount in euros: 300\n\nIt is gone. Call [ПДн:телефон]."
    );
    assert!(call.system_prompt.contains("TR travel"));
    let categories = &call.schema.as_ref().unwrap().schema["properties"]["category"]["enum"];
    assert_eq!(categories[0], "motor");
}

#[test]
fn a_model_failure_fails_the_call() {
    let busy = FakeLlm::from_fn(|_| SkillError::retryable("llm_rate_limited", "busy"));
    let call = invoke(classify::SKILL, claim(&json!({}))).llm(&busy);
    let error = call.blocking().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("llm_rate_limited", true));
}

#[test]
fn an_incomplete_configuration_is_a_failure() {
    for (name, value) in [
        ("SKILL_LLM_BASE_URL", "http://llm.internal/v1"),
        ("SKILL_LLM_PROVIDER", "no-such-provider"),
        // The URL is not set.
        ("SKILL_LLM_API_KEY", "key"),
        ("SKILL_LLM_MODELS", "a,b"),
        ("SKILL_LLM_TIMEOUT_SECONDS", "60"),
        ("SKILL_LLM_CLAUDE_BINARY", "claude"),
    ] {
        let call = invoke(classify::SKILL, claim(&json!({}))).env(name, value);
        let error = call.blocking().unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), ("llm_not_configured", true));
    }
}

/// A call on a server without a model.
fn without_a_model(inputs: impl Serialize) -> Invoke {
    invoke(classify::SKILL, inputs).envs::<String, String>([])
}
