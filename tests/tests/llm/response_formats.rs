//! What is sent, and in which form.

use axum::http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use skill_sdk::ChatRequest;
use skill_sdk::llm::{LlmClient, OpenAi};

use super::double::{Double, Say};
use super::{KEY, context_at, context_with, request, summarize};

#[tokio::test]
async fn a_request_has_the_schema_and_the_key() {
    let double = Double::start([Say::good()]).await;
    let context = context_with(&format!("{}/", double.base), &[]);
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
    let [asked] = double.asked().try_into().unwrap();
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
                "strict": true,
                "schema": {
                    "description": "What the model is asked for.",
                    "type": "object",
                    "properties": {"summary": {"description": "The text in one sentence.", "type": "string"}},
                    "required": ["summary"],
                    "additionalProperties": false,
                },
            }},
        })
    );
}

#[tokio::test]
async fn any_object_is_asked_for_in_words_too() {
    let double = Double::start([Say::text(r#"{"x": [1]}"#)]).await;
    let answer = context_at(&double.base)
        .llm()
        .unwrap()
        .chat_json_object(ChatRequest::new("").user("q"))
        .await;
    assert_eq!(json!(answer.unwrap().data), json!({"x": [1]}));
    let body = &double.asked()[0].body;
    assert_eq!(body["response_format"], json!({"type": "json_object"}));
    assert_eq!(body["temperature"], 0.0);
    assert_eq!(body.get("max_tokens"), None);
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Answer with one JSON object"), "{system}");
}

#[tokio::test]
async fn a_type_without_a_strict_form_is_sent_as_it_is() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only read")]
    struct Counts {
        counts: std::collections::BTreeMap<String, u32>,
    }

    let double = Double::start([Say::text(r#"{"counts": {"a": 1}}"#)]).await;
    let llm = context_at(&double.base).llm().unwrap();
    llm.chat_json::<Counts>(request()).await.unwrap();
    let format = &double.asked()[0].body["response_format"]["json_schema"];
    assert_eq!(format["strict"], false);
    assert_eq!(
        format["schema"]["properties"]["counts"]["additionalProperties"]["type"],
        "integer"
    );
}

#[tokio::test]
async fn a_server_that_refuses_the_schema_gets_it_in_words_and_that_is_remembered() {
    for status in [400, 415, 422, 501] {
        let refused = Say::error(status, "unsupported_response_format", Some("response_format"));
        let double = Double::start([refused, Say::good()]).await;
        let context = context_at(&double.base);
        for _ in 0..2 {
            summarize(&context).await.unwrap();
        }
        let kinds: Vec<_> = double
            .asked()
            .iter()
            .map(|asked| asked.body["response_format"]["type"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(kinds, ["json_schema", "json_object", "json_object"], "{status}");
        let system = double.asked()[1].body["messages"][0]["content"]
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
async fn a_server_that_refuses_every_format_is_asked_in_words_alone() {
    // Some name the part that is refused by their language's word for nothing.
    for param in [
        None,
        Some(""),
        Some("None"),
        Some("null"),
        Some("undefined"),
        Some(" nil "),
    ] {
        let refused = || Say::error(400, "invalid_request", param);
        let double = Double::start([refused(), refused(), Say::good()]).await;
        summarize(&context_at(&double.base)).await.unwrap();
        assert_eq!(double.asked()[2].body.get("response_format"), None, "{param:?}");
        let double = Double::start([Say::error(404, "x", param)]).await;
        let error = summarize(&context_at(&double.base)).await.unwrap_err();
        assert!(!error.message().contains("about `"), "{error}");
    }
    let refused = || Say::error(400, "invalid_request", None);
    // One that refuses that as well refuses something else.
    let double = Double::start([refused()]).await;
    let error = summarize(&context_at(&double.base)).await.unwrap_err();
    assert_eq!(super::code(&error), "llm_failed");
    assert_eq!(double.models(), "aaabbb");
}

#[tokio::test]
async fn what_was_refused_for_one_type_is_asked_for_another() {
    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only read")]
    struct Other {
        summary: String,
        pages: Option<u32>,
    }

    let temperature = Say::error(400, "unsupported_value", Some("temperature"));
    let schema = Say::error(400, "invalid_value", Some("response_format.json_schema"));
    let double = Double::start([temperature, schema, Say::good()]).await;
    let context = context_at(&double.base);
    summarize(&context).await.unwrap();
    let llm = context.llm().unwrap();
    llm.chat_json::<Other>(request()).await.unwrap();
    llm.chat_json_object(request()).await.unwrap();
    summarize(&context).await.unwrap();
    let asked = double.asked();
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
            // That it takes no temperature holds for the model, that it takes no schema for this one.
            ("json_schema", false),
            ("json_object", false),
            ("json_object", false),
        ]
    );
}

#[tokio::test]
async fn a_refusal_of_something_else_is_not_asked_again_in_another_form() {
    for (code, param) in [
        ("context_length_exceeded", None),
        ("context_length_exceeded", Some("messages")),
        ("string_above_max_length", Some("messages[0].content")),
        ("invalid_value", Some("messages.[1].content")),
        ("invalid_value", Some("max_tokens")),
        ("model_not_found", Some("model")),
        ("content_policy_violation", None),
        ("content_filter", None),
        ("insufficient_quota", None),
    ] {
        let double = Double::start([Say::error(400, code, param)]).await;
        let error = summarize(&context_at(&double.base)).await.unwrap_err();
        assert_eq!(super::code(&error), "llm_failed", "{code} {param:?}");
        assert_eq!(double.models(), "ab", "{code} {param:?}");
    }
    // A server that says that the context is too long, in its sentence alone.
    let told = json!({"object": "error", "message": "This model's maximum context length is 9 tokens.", "code": 400});
    for body in [told.clone(), json!({"error": told})] {
        let double = Double::start([Say::status(400, &body)]).await;
        summarize(&context_at(&double.base)).await.unwrap_err();
        assert_eq!(double.models(), "ab", "{body}");
    }
    // What was left out already cannot be what is refused.
    let temperature = || Say::error(400, "unsupported_value", Some("temperature"));
    let double = Double::start([temperature(), temperature()]).await;
    summarize(&context_at(&double.base)).await.unwrap_err();
    assert_eq!(double.models(), "aabb");
}

#[tokio::test]
async fn a_model_that_takes_no_temperature_is_asked_without() {
    let temperature = Say::error(400, "unsupported_value", Some("temperature"));
    let tokens = Say::error(400, "unsupported_parameter", Some("max_tokens"));
    let double = Double::start([temperature, tokens, Say::good()]).await;
    let context = context_at(&double.base);
    for _ in 0..2 {
        let llm = context.llm().unwrap();
        llm.chat_json::<super::Summary>(request().max_tokens(9))
            .await
            .unwrap();
    }
    let asked = double.asked();
    assert_eq!(asked.len(), 4);
    for asked in &asked[2..] {
        assert_eq!(asked.body.get("temperature"), None);
        assert_eq!(asked.body.get("max_tokens"), None);
        assert_eq!(asked.body["max_completion_tokens"], 9);
        assert_eq!(asked.body["response_format"]["type"], "json_schema");
    }
}

#[tokio::test]
async fn a_client_made_in_code_is_like_that_of_the_environment() {
    let double = Double::start([Say::good()]).await;
    let client = LlmClient::new(OpenAi::new(&double.base, KEY, ["x"]).unwrap());
    let mut meta = skill_sdk::context::Meta::new("test");
    meta.services.llm = Some(client);
    summarize(&skill_sdk::SkillContext::new("doc.summarize@1", meta))
        .await
        .unwrap();
    assert_eq!(double.models(), "x");
}
