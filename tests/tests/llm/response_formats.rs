//! The requests, and the fallback to simpler response formats.

use axum::http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use skill_sdk::ChatRequest;
use skill_sdk::llm::{LlmClient, OpenAi};

use super::mock_server::{MockServer, Reply};
use super::{KEY, context_at, context_with, request, summarize};

#[tokio::test]
async fn a_request_has_the_schema_and_the_key() {
    let server = MockServer::start([Reply::good()]).await;
    let context = context_with(&format!("{}/", server.base), &[]);
    let asked = ChatRequest::new("Sum it up.")
        .user("one")
        .assistant("two")
        .user("three")
        .temperature(0.5)
        .max_tokens(100);
    let answer = context
        .llm()
        .unwrap()
        .chat_json::<super::Summary>(asked)
        .await
        .unwrap();
    assert_eq!(
        (answer.data.summary.as_str(), answer.model.as_str()),
        ("s", "m-1")
    );
    let [asked] = server.requests().try_into().unwrap();
    assert_eq!(
        (asked.method, asked.uri.path()),
        (Method::POST, "/v1/chat/completions")
    );
    assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
    assert_eq!(asked.headers["content-type"], "application/json");
    assert_eq!(
        asked.body,
        json!({
            "model": "a",
            "messages": [
                {"role": "system", "content": "Sum it up."},
                {"role": "user", "content": "one"},
                {"role": "assistant", "content": "two"},
                {"role": "user", "content": "three"},
            ],
            "temperature": 0.5,
            "max_tokens": 100,
            "response_format": {"type": "json_schema", "json_schema": {
                "name": "Summary",
                "schema": {
                    "description": "The requested type.",
                    "type": "object",
                    "properties": {"summary": {"description": "The text in one sentence.", "type": "string"}},
                    "required": ["summary"],
                },
            }},
        })
    );
}

#[tokio::test]
async fn a_json_object_is_also_described_in_the_prompt() {
    let server = MockServer::start([Reply::text(r#"{"x": [1]}"#)]).await;
    let answer = context_at(&server.base)
        .llm()
        .unwrap()
        .chat_json_object(ChatRequest::new("").user("q"))
        .await;
    assert_eq!(json!(answer.unwrap().data), json!({"x": [1]}));
    let body = &server.requests()[0].body;
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
    assert_eq!(body["temperature"], 0.0);
    assert_eq!(body.get("max_tokens"), None);
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Answer with one JSON object"), "{system}");
}

#[tokio::test]
async fn a_rejected_schema_moves_to_the_prompt_and_the_result_is_cached() {
    for status in [400, 415, 422, 501] {
        let refused = Reply::error(status, "unsupported_response_format", Some("response_format"));
        let server = MockServer::start([refused, Reply::good()]).await;
        let context = context_at(&server.base);
        for _ in 0..2 {
            summarize(&context).await.unwrap();
        }
        let kinds: Vec<_> = server
            .requests()
            .iter()
            .map(|asked| asked.body["response_format"]["type"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(kinds, ["json_schema", "json_object", "json_object"], "{status}");
        let system = server.requests()[1].body["messages"][0]["content"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            system.starts_with("Sum it up.\n\nAnswer with one JSON object"),
            "{system}"
        );
        assert!(system.contains(r#""required":["summary"]"#), "{system}");
    }
}

#[tokio::test]
async fn a_format_rejected_for_one_type_is_tried_for_another() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only read")]
    struct Other {
        summary: String,
        pages: Option<u32>,
    }

    let temperature = Reply::error(400, "unsupported_value", Some("temperature"));
    let schema = Reply::error(400, "invalid_value", Some("response_format.json_schema"));
    let server = MockServer::start([temperature, schema, Reply::good()]).await;
    let context = context_at(&server.base);
    summarize(&context).await.unwrap();
    let llm = context.llm().unwrap();
    llm.chat_json::<Other>(request()).await.unwrap();
    llm.chat_json_object(request()).await.unwrap();
    summarize(&context).await.unwrap();
    let asked = server.requests();
    let forms: Vec<_> = asked
        .iter()
        .map(|asked| {
            (
                asked.body["response_format"]["type"].as_str().unwrap(),
                asked.body.get("temperature").is_some(),
            )
        })
        .collect();
    assert_eq!(
        forms,
        [
            ("json_schema", true),
            ("json_schema", false),
            ("json_object", false),
            // What a server rejects is cached for the model and the schema.
            ("json_schema", true),
            ("json_object", true),
            ("json_object", false),
        ]
    );
}

#[tokio::test]
async fn a_model_that_rejects_every_form_is_followed_by_the_next() {
    for (code, param) in [
        ("context_length_exceeded", None),
        ("invalid_value", Some("messages.[1].content")),
        ("invalid_request", Some("null")),
    ] {
        let server = MockServer::start([Reply::error(400, code, param)]).await;
        let error = summarize(&context_at(&server.base)).await.unwrap_err();
        assert_eq!(super::code(&error), "llm_failed", "{code} {param:?}");
        assert_eq!(server.models(), "aabb", "{code} {param:?}");
    }
    // A parameter that was not sent cannot be the reason for the second rejection.
    for param in ["temperature", "max_tokens"] {
        let server = MockServer::start([Reply::error(400, "unsupported_value", Some(param))]).await;
        summarize(&context_at(&server.base)).await.unwrap_err();
        let models = if param == "temperature" { "aabb" } else { "ab" };
        assert_eq!(server.models(), models, "{param}");
    }
}

#[tokio::test]
async fn unsupported_parameters_are_left_out() {
    let temperature = Reply::error(400, "unsupported_value", Some("temperature"));
    let tokens = Reply::error(400, "unsupported_parameter", Some("max_tokens"));
    let server = MockServer::start([temperature, tokens, Reply::good()]).await;
    let context = context_at(&server.base);
    for _ in 0..2 {
        let llm = context.llm().unwrap();
        llm.chat_json::<super::Summary>(request().max_tokens(9))
            .await
            .unwrap();
    }
    let asked = server.requests();
    assert_eq!(asked.len(), 4);
    for asked in &asked[2..] {
        assert_eq!(asked.body.get("temperature"), None);
        assert_eq!(asked.body.get("max_tokens"), None);
        assert_eq!(asked.body["max_completion_tokens"], 9);
        assert_eq!(asked.body["response_format"]["type"], "json_schema");
    }
}

#[tokio::test]
async fn a_client_can_be_configured_in_code() {
    let server = MockServer::start([Reply::good()]).await;
    let client = LlmClient::new(OpenAi::new(&server.base, KEY, ["x"]).unwrap());
    let mut meta = skill_sdk::context::Meta::new("test");
    meta.services.llm = Some(client);
    summarize(&skill_sdk::SkillContext::new("doc.summarize@1", meta))
        .await
        .unwrap();
    assert_eq!(server.models(), "x");
}
