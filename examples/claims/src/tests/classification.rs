//! `claims.classify@1`.

use std::sync::Arc;

use serde_json::{Value, json};
use skill_sdk::context::ContextStart;
use skill_sdk::testing::{check_contract, invoke};
use skill_sdk::{LlmUsage, SkillContext, SkillError};

use crate::classification::{AnsweredBy, Category, Claim, Severity, classify, classify_with};
use crate::model::{Answer, ClaimModel};

#[test]
fn the_contract_can_be_published() {
    check_contract(classify::SKILL).unwrap();
}

#[test]
fn the_samples_are_true() {
    let samples = &classify::SKILL.described().unwrap().metadata()["examples"];
    for sample in samples.as_array().unwrap() {
        let result = invoke(classify::SKILL, &sample["inputs"]).blocking().unwrap();
        assert_eq!(result.outputs, sample["outputs"], "{}", sample["name"]);
    }
}

#[test]
fn a_stand_in_costs_a_claim_and_no_tokens() {
    let result = invoke(classify::SKILL, claim(&json!({}))).blocking().unwrap();
    assert_eq!(result.cost, Some(json!({"units": {"claim": 1.0}})));
    assert_eq!(result.outputs["answered_by"], "stand-in");
}

#[test]
fn severity_follows_the_amount_and_the_words() {
    for (change, severity) in [
        (json!({}), "low"),
        (json!({"amount": 1999.99}), "low"),
        (json!({"amount": 2000}), "medium"),
        (json!({"amount": 50_000}), "high"),
        (json!({"text": "My wife is in hospital."}), "high"),
        // A part of a word is none.
        (json!({"text": "A firewall and a card."}), "low"),
    ] {
        let result = invoke(classify::SKILL, claim(&change)).blocking().unwrap();
        assert_eq!(result.outputs["severity"], severity, "{change}");
    }
}

#[test]
fn what_the_contract_does_not_allow_is_refused_with_its_path() {
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
        let error = invoke(classify::SKILL, claim(&change)).blocking().unwrap_err();
        assert_eq!(error.code(), "input_contract_violation", "{change}");
        let errors = &error.details().unwrap()["errors"];
        assert_eq!(errors[0]["path"], path, "{change}: {errors}");
    }
}

/// The claim of all tests, with what one of them changes.
fn claim(change: &Value) -> Value {
    let mut claim = json!({"subject": "A question", "text": "When are you open?"});
    for (key, value) in change.as_object().unwrap() {
        claim[key] = value.clone();
    }
    claim
}

/// A model that always says the same.
struct Fake(fn() -> Result<Answer, SkillError>);

impl ClaimModel for Fake {
    fn answered_by(&self) -> AnsweredBy {
        AnsweredBy::Model
    }

    async fn ask(&self, _: &Claim) -> Result<Answer, SkillError> {
        self.0()
    }
}

#[tokio::test]
async fn what_a_model_used_is_counted() {
    let ctx = context();
    let model = Fake(|| {
        Ok(Answer {
            category: Category::Travel,
            severity: Severity::Low,
            reasons: vec!["a lost suitcase".to_owned(); 5],
            confidence: 0.75,
            usage: Some(LlmUsage {
                model: "large".to_owned(),
                prompt_tokens: 10,
                completion_tokens: 5,
                total_tokens: 15,
                ..LlmUsage::default()
            }),
        })
    });
    let claim = serde_json::from_value(claim(&json!({}))).unwrap();
    let answer = classify_with(&model, &claim, &ctx).await.unwrap();
    assert_eq!((answer.answered_by, answer.reasons.len()), (AnsweredBy::Model, 3));
    let llm = json!({
        "calls": 1, "promptTokens": 10, "completionTokens": 5, "totalTokens": 15, "models": ["large"],
    });
    assert_eq!(
        ctx.cost_document(),
        Some(json!({"llm": llm, "units": {"claim": 1.0}}))
    );
}

#[tokio::test]
async fn a_model_that_failed_is_the_failure_of_the_call() {
    let ctx = context();
    let model = Fake(|| Err(SkillError::retryable("llm_failed", "busy")));
    let claim = serde_json::from_value(claim(&json!({}))).unwrap();
    let error = classify_with(&model, &claim, &ctx).await.unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("llm_failed", true));
    assert_eq!(ctx.cost_document(), None);
}

fn context() -> SkillContext {
    SkillContext::new(ContextStart::new("claims.classify@1", "test", Arc::default()))
}
