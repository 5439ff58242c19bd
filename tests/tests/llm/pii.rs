//! PII redaction, and the content of the log.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use skill_sdk::ChatRequest;
use skill_sdk::context::States;
use skill_sdk::pipeline::{Call, Meta, SkillSet};
use skill_sdk_tests::log;
use tracing::Level;

use super::mock_server::{MockServer, Reply};
use super::{Summary, code, context_at, environment_at, request};

#[tokio::test]
async fn personal_data_is_redacted_before_a_request() {
    // The re-prompt quotes the response, and the response may quote personal data that the model made up.
    let server = MockServer::start([Reply::text(r#"{"wrong": "i@i.ru"}"#), Reply::good()]).await;
    let llm = context_at(&server.base).llm().unwrap();
    let request = ChatRequest::new("Ответь Иванову И.И.")
        .user("тел 89123456789")
        .assistant("Петров Пётр Петрович")
        .user("ИНН 7707083893");
    llm.chat_json::<Summary>(request).await.unwrap();
    let asked = server.requests();
    let contents = |at: usize| -> Vec<String> {
        let messages = asked[at].body["messages"].as_array().unwrap();
        messages
            .iter()
            .map(|message| message["content"].as_str().unwrap().to_owned())
            .collect()
    };
    let guarded = [
        "Ответь [ПДн:фио]",
        "тел [ПДн:телефон]",
        "[ПДн:фио]",
        "ИНН 7707083893",
    ];
    assert_eq!(contents(0), guarded);
    assert_eq!(contents(1)[..4], guarded);
    assert_eq!(contents(1)[4], r#"{"wrong": "[ПДн:email]"}"#);
}

/// Summarizes a text.
#[skill_sdk::skill("log.summary", version = "1", side_effects = "none", risk = "low")]
async fn summary(text: String, ctx: &skill_sdk::SkillContext) -> Result<String, skill_sdk::SkillError> {
    let request = ChatRequest::new("secret-instructions").user(&text);
    Ok(ctx.llm()?.chat_json::<Summary>(request).await?.data.summary)
}

#[tokio::test]
async fn the_log_contains_kinds_and_counts_but_no_text() {
    log::capture();
    let server = MockServer::start([
        Reply::text("secret-answer"),
        Reply::text(r#"{"summary": "secret-summary"}"#),
    ])
    .await;
    let host = SkillSet::with_states([summary::SKILL], States::default()).unwrap();
    let mut meta = Meta::new("test");
    meta.invocation_id = Some("llm-log-1".to_owned());
    meta.environment = environment_at(&server.base, &[]);
    let inputs = json!({"text": "secret-text 89123456789, 89123456780"});
    let runnable = host.get("log.summary@1").unwrap();
    let completed = host.call(runnable, Call::json(inputs.to_string(), meta)).await;
    assert!(completed.result().is_ok(), "{:?}", completed.result());
    let events = log::of_call("llm-log-1");
    let found = events
        .iter()
        .find(|event| event.message() == "personal data was replaced before the model was asked")
        .unwrap();
    assert_eq!((found.level, found.field("found")), (Level::INFO, "телефон: 2"));
    let misfit = events
        .iter()
        .find(|event| event.message() == "the reply of the model is not valid")
        .unwrap();
    assert_eq!(misfit.field("model"), "a");
    let text = log::text();
    for secret in [
        "secret-instructions",
        "secret-text",
        "secret-answer",
        "secret-summary",
        "hunter2",
        "89123456789",
    ] {
        assert!(!text.contains(secret), "{secret} is in the log");
    }
}

#[tokio::test]
async fn a_field_name_made_up_by_the_model_is_not_reported_to_the_caller() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only read")]
    struct Counts {
        counts: BTreeMap<String, u32>,
    }

    let answer = json!({"counts": {"i@i.ru": "many", "8 912 345-67-89": "few"}});
    let server = MockServer::start([Reply::text(&answer.to_string())]).await;
    let llm = context_at(&server.base).llm().unwrap();
    let error = llm.chat_json::<Counts>(request()).await.map(drop).unwrap_err();
    assert_eq!(code(&error), "llm_invalid_response");
    let message = error.message();
    assert!(message.contains("/counts/[ПДн:email]"), "{message}");
    assert!(message.contains("/counts/[ПДн:телефон]"), "{message}");
    assert!(
        !message.contains("i@i.ru") && !message.contains("912"),
        "{message}"
    );
}
