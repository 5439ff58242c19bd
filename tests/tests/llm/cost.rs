//! The cost of a chat.

use serde_json::{Value, json};

use super::mock_server::{MockServer, Reply, completion};
use super::{context_at, summarize};

fn priced(text: &str, usage: Value) -> Reply {
    let mut document = completion(&json!({"content": text}));
    document["usage"] = usage;
    Reply::status(200, &document)
}

fn llm(calls: u32, prompt: u32, completion: u32, total: u32, models: &[&str]) -> Value {
    json!({"llm": {
        "calls": calls, "promptTokens": prompt, "completionTokens": completion, "totalTokens": total, "models": models,
    }})
}

#[tokio::test]
async fn all_attempts_of_a_chat_count_as_one_call() {
    let server = MockServer::start([Reply::text("no"), Reply::good()]).await;
    let context = context_at(&server.base);
    let answer = summarize(&context).await.unwrap();
    assert_eq!((answer.usage.prompt_tokens, answer.usage.total_tokens), (20, 30));
    assert_eq!(context.cost_document(), Some(llm(1, 20, 10, 30, &["m-1"])));
    summarize(&context).await.unwrap();
    assert_eq!(context.cost_document(), Some(llm(2, 30, 15, 45, &["m-1"])));
}

#[tokio::test]
async fn tokens_of_a_failed_chat_are_counted() {
    let server =
        MockServer::start([Reply::text("no"), Reply::text("no"), Reply::error(500, "x", None)]).await;
    let context = context_at(&server.base);
    summarize(&context).await.unwrap_err();
    assert_eq!(context.cost_document(), Some(llm(1, 20, 10, 30, &["m-1"])));

    let server = MockServer::start([Reply::error(500, "x", None)]).await;
    let context = context_at(&server.base);
    summarize(&context).await.unwrap_err();
    assert_eq!(context.cost_document(), None);
}

#[tokio::test]
async fn reported_prices_are_summed() {
    let good = r#"{"summary": "s"}"#;
    let script = [
        priced(
            "no",
            json!({"prompt_tokens": 1, "completion_tokens": 2, "cost": 0.000_001}),
        ),
        priced(good, json!({"total_tokens": 5, "cost_usd": 0.25, "cost": 7})),
        priced(
            good,
            json!({"prompt_tokens": "5", "completion_tokens": -1, "total_tokens": 2.5, "cost": -1}),
        ),
        priced(good, Value::Null),
    ];
    let server = MockServer::start(script).await;
    let context = context_at(&server.base);
    for _ in 0..3 {
        summarize(&context).await.unwrap();
    }
    let mut expected = llm(3, 1, 2, 8, &["m-1"]);
    expected["llm"]["costUsd"] = json!(0.250_001);
    assert_eq!(context.cost_document(), Some(expected));
}
