//! Servers that fail or send invalid responses.

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::mock_server::{MockServer, Reply, completion};
use super::{KEY, code, context_at, context_with, summarize};

/// The responses of the server, the resulting error code, if any, and the models that were called.
#[tokio::test]
async fn the_next_model_is_tried_and_the_last_failure_is_returned() {
    let good = Reply::good;
    let e = |status| Reply::error(status, "some_code", None);
    let told = |code: i32| Reply::status(200, &json!({"error": {"code": code, "message": "x"}}));
    let message = |message| Reply::message(&message);
    let table: Vec<(&str, Vec<Reply>, &str, &str)> = vec![
        ("good", vec![good()], "", "a"),
        ("busy", vec![e(429)], "llm_rate_limited", "ab"),
        ("busy, then good", vec![e(429), good()], "", "ab"),
        ("fault", vec![e(500)], "llm_failed", "ab"),
        (
            "gateway",
            vec![Reply::Answer(502, Vec::new(), "<html>".into()), good()],
            "",
            "ab",
        ),
        ("fault, then busy", vec![e(503), e(429)], "llm_rate_limited", "ab"),
        ("busy, then fault", vec![e(429), e(504)], "llm_failed", "ab"),
        ("no such model", vec![e(404), good()], "", "ab"),
        ("the key is refused", vec![e(401), good()], "llm_failed", "a"),
        ("no access to a model", vec![e(403), good()], "", "ab"),
        (
            "moved",
            vec![Reply::Answer(302, vec![("location", "/x".into())], String::new())],
            "llm_failed",
            "ab",
        ),
        (
            "no JSON",
            vec![Reply::Answer(200, Vec::new(), "<html>".into()), good()],
            "",
            "ab",
        ),
        (
            "no body",
            vec![Reply::Answer(200, Vec::new(), String::new())],
            "llm_failed",
            "ab",
        ),
        ("a list", vec![Reply::status(200, &json!([]))], "llm_failed", "ab"),
        ("busy with 200", vec![told(429)], "llm_rate_limited", "ab"),
        ("fault with 200", vec![told(502)], "llm_failed", "ab"),
        (
            "no choices",
            vec![Reply::status(200, &json!({"choices": []}))],
            "llm_invalid_response",
            "aabb",
        ),
        (
            "null",
            vec![message(json!({"content": null}))],
            "llm_invalid_response",
            "aabb",
        ),
        (
            "a refusal",
            vec![message(json!({"content": null, "refusal": "no"}))],
            "llm_invalid_response",
            "ab",
        ),
        (
            "in parts",
            vec![message(
                json!({"content": [{"type": "text", "text": "{\"summary\":"}, {"text": "\"s\"}"}]}),
            )],
            "",
            "a",
        ),
        (
            "in words",
            vec![Reply::text("Sure:\n```json\n{\"summary\": \"s\"}\n```")],
            "",
            "a",
        ),
        (
            "too large",
            vec![Reply::text(&"x".repeat(5 << 20)), good()],
            "",
            "ab",
        ),
        ("too deep", vec![Reply::text(&"[".repeat(500)), good()], "", "aa"),
    ];
    for (name, script, expected, models) in table {
        let server = MockServer::start(script).await;
        let context = context_at(&server.base);
        match summarize(&context).await {
            Ok(answer) => {
                assert_eq!(expected, "", "{name}");
                assert_eq!(answer.data.summary, "s", "{name}");
            }
            Err(error) => assert_eq!(code(&error), expected, "{name}: {error}"),
        }
        assert_eq!(server.models(), models, "{name}");
    }
}

#[tokio::test]
async fn server_errors_do_not_leak_the_prompt_or_the_key() {
    for body in [
        json!({"error": {"message": format!("bad key {KEY}"), "code": KEY, "type": "a long text"}}),
        json!({"error": {"message": KEY, "code": "x".repeat(100), "type": "a long text", "param": KEY}}),
        json!({"error": KEY}),
        json!(KEY),
    ] {
        for status in [401, 403, 429, 500] {
            let server = MockServer::start([Reply::status(status, &body)]).await;
            let error = summarize(&context_at(&server.base)).await.unwrap_err();
            code(&error);
            assert!(!error.message().contains("long text"), "{error}");
        }
    }
    let mut named = completion(&json!({"content": "{\"summary\": \"s\"}"}));
    named["model"] = json!(format!("m {KEY}"));
    let server = MockServer::start([Reply::status(200, &named)]).await;
    let answer = summarize(&context_at(&server.base)).await.unwrap();
    assert_eq!(answer.model, "a");
}

#[tokio::test]
async fn the_error_type_of_the_server_is_reported() {
    let server = MockServer::start([Reply::error(404, "model_not_found", Some("model"))]).await;
    let error = summarize(&context_at(&server.base)).await.unwrap_err();
    assert_eq!(
        error.message(),
        "the model b failed: status 404 (model_not_found) about `model`; check SKILL_LLM_BASE_URL and the name of the \
         model in SKILL_LLM_MODELS"
    );
}

#[tokio::test]
async fn an_unreachable_server_is_retryable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let hangs_up = tokio::spawn(async move {
        for _ in 0..2 {
            drop(listener.accept().await);
        }
    });
    let error = summarize(&context_at(&base)).await.unwrap_err();
    assert_eq!(code(&error), "llm_failed");
    hangs_up.await.unwrap();
    let error = summarize(&context_at(&base)).await.unwrap_err();
    assert_eq!(code(&error), "llm_failed");
    assert!(error.message().contains("no connection"), "{error}");
}

#[tokio::test]
async fn a_model_that_times_out_is_skipped() {
    let server = MockServer::start([Reply::Nothing]).await;
    let context = context_with(&server.base, &[("SKILL_LLM_TIMEOUT_SECONDS", "0.5")]);
    let error = summarize(&context).await.unwrap_err();
    assert_eq!(code(&error), "llm_timeout");
    assert_eq!(error.message(), "the model b did not answer within 0.5 s");
    assert_eq!(server.models(), "ab");
}

#[tokio::test]
async fn an_incomplete_response_times_out() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            // Wait for the request before responding.
            stream.read_u8().await.unwrap();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{";
            stream.write_all(head.as_bytes()).await.unwrap();
            open.push(stream);
        }
    });
    let context = context_with(&base, &[("SKILL_LLM_TIMEOUT_SECONDS", "0.5")]);
    assert_eq!(code(&summarize(&context).await.unwrap_err()), "llm_timeout");
}
