//! Invalid responses and the re-prompt.

use serde_json::{Value, json};

use super::mock_server::{MockServer, Reply};
use super::{code, context_at, request, summarize};

#[tokio::test]
async fn an_invalid_response_is_reprompted_once_with_the_violations() {
    let server = MockServer::start([Reply::text(r#"{"summary": 7}"#), Reply::good()]).await;
    summarize(&context_at(&server.base)).await.unwrap();
    assert_eq!(server.models(), "aa");
    let messages = server.requests()[1].body["messages"].clone();
    let before = server.requests()[0].body["messages"].clone();
    let (before, messages) = (before.as_array().unwrap(), messages.as_array().unwrap());
    assert_eq!(&messages[..2], &before[..]);
    assert_eq!(
        messages[2],
        json!({"role": "assistant", "content": "{\"summary\": 7}"})
    );
    assert_eq!(messages[3]["role"], "user");
    let why = messages[3]["content"].as_str().unwrap();
    assert!(
        why.contains("is not valid for the schema `summary`: /summary: 7 is not of type"),
        "{why}"
    );
}

#[tokio::test]
async fn the_next_model_starts_over_and_the_last_failure_is_returned() {
    let server = MockServer::start([Reply::text("no"), Reply::text("[]"), Reply::good()]).await;
    summarize(&context_at(&server.base)).await.unwrap();
    assert_eq!(server.models(), "aab");
    assert_eq!(
        server.requests()[0].body["messages"],
        server.requests()[2].body["messages"]
    );

    let server = MockServer::start([Reply::text(r#"{"summary": "hunter3", "summary": 5}"#)]).await;
    let error = summarize(&context_at(&server.base)).await.unwrap_err();
    assert_eq!(code(&error), "llm_invalid_response");
    assert_eq!(
        error.message(),
        "no model gave valid JSON (b: the reply is not valid for the schema `summary` at /summary)"
    );
    assert_eq!(server.models(), "aabb");
}

#[tokio::test]
async fn a_failed_reprompt_falls_back_to_the_next_model() {
    let server = MockServer::start([Reply::text("no"), Reply::error(500, "x", None), Reply::good()]).await;
    summarize(&context_at(&server.base)).await.unwrap();
    assert_eq!(server.models(), "aab");
}

#[tokio::test]
async fn a_json_object_must_be_an_object() {
    let server = MockServer::start([Reply::text("[1]"), Reply::text(r#"{"a": 1}"#)]).await;
    let llm = context_at(&server.base).llm().unwrap();
    let answer = llm.chat_json_object(request()).await.unwrap();
    assert_eq!(Value::from(answer.data), json!({"a": 1}));
    let asked = server.requests();
    let why = asked[1].body["messages"][3]["content"].as_str().unwrap();
    assert!(why.contains("the reply contains no JSON object"), "{why}");
}
