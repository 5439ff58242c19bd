//! The recorded responses of a server whose model is configured in code.
//!
//! A separate test program, because [`configure_llm`] affects the whole process.

#![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill_sdk::context::States;
use skill_sdk::http::{HttpServer, ServeOptions};
use skill_sdk::pipeline::SkillSet;
use skill_sdk::testing::FakeLlm;
use skill_sdk::{ChatRequest, Environment, LlmUsage, SkillContext, SkillError, configure_llm, skill};
use skill_sdk_tests::cases::{self, Replay, Verdict};
use skill_sdk_tests::raw_http::Server;

#[derive(Deserialize, Serialize, JsonSchema)]
struct Summary {
    summary: String,
}

/// Summarizes a text.
#[skill("doc.summarize", version = "1", side_effects = "none", risk = "low")]
async fn summarize(text: String, ctx: &SkillContext) -> Result<Summary, SkillError> {
    let request = ChatRequest::new("Sum it up.").user(&text);
    Ok(ctx.llm()?.chat_json(request).await?.data)
}

/// The tokens of a recorded call.
fn usage(model: &str) -> LlmUsage {
    LlmUsage::new(model).tokens(10, 5)
}

#[tokio::test]
async fn recorded_responses_match() {
    let host = SkillSet::with_states([summarize::SKILL], States::default()).unwrap();
    let host = HttpServer::anonymous(host).environment(Environment::from_vars([]));
    let server = Server::start(host, ServeOptions::default()).await;
    let mut replay = Replay::new(&[]);
    for case in cases::load("http.json") {
        let answers = json!({"summary": "кратко"});
        // The recorded configuration, and the error code if it differs.
        let (fake, code) = match case.id.as_str() {
            // The recording had no client at all. Here there is one, but nothing configures the model.
            "summarize-unconfigured" => (None, Some("llm_not_configured")),
            "summarize-fake" => (
                Some(FakeLlm::always(answers).usage(usage("model-a").price(0.002))),
                None,
            ),
            "summarize-fake-unpriced" => (Some(FakeLlm::always(answers).usage(usage("модель"))), None),
            "summarize-fake-invalid" => (Some(FakeLlm::always(json!({"wrong": 1}))), None),
            id => {
                if id.starts_with("summarize-") {
                    replay.report(
                        id,
                        &Verdict::NotReplayed("the replay does not know this configuration".to_owned()),
                    );
                }
                continue;
            }
        };
        if let Some(fake) = fake {
            configure_llm(move |_| Ok(fake.client()));
        }
        let mut client = server.connect().await;
        let target = case.input["target"].as_str().unwrap();
        let answer = client
            .post(target, case.input["bodyText"].as_str().unwrap())
            .await;
        let expect = &case.expect;
        assert_eq!(
            u64::from(answer.status),
            expect["status"].as_u64().unwrap(),
            "{}",
            case.id
        );
        let cost = expect["headers"]["x-skill-cost"].as_str().unwrap_or_default();
        assert_eq!(answer.header("x-skill-cost"), cost, "{}", case.id);
        let json = answer.json();
        if let Some(error) = expect["json"].get("error") {
            assert_eq!(
                json["error"]["code"],
                code.map_or(error["code"].clone(), Value::from),
                "{}",
                case.id
            );
            assert_eq!(json["error"]["retryable"], error["retryable"], "{}", case.id);
        } else {
            assert_eq!(json, expect["json"], "{}", case.id);
        }
        replay.report(&case.id, &Verdict::Ok);
    }
    replay.finish();
    assert!(server.stop().await.unwrap().is_ok());
}
