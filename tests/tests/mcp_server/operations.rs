//! A host on a port as its operators see it: limits, its end, the paths for them.

use serde_json::{Value, json};
use skill_sdk::http::{Limits, ServeOptions};
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk_tests::signs::Signs;
use skill_sdk_tests::wire::Client as Connection;

use super::client::{Server, call, failed, host, http, modern, stateless};

fn act() -> String {
    call(1, "mcp.act", &json!({"action": "a"}), &Value::Null)
}

#[tokio::test]
async fn limits() {
    let mut limits = Limits::default();
    limits.max_body_bytes = 1000;
    limits.concurrency = 1;
    let server = Server::of(McpHttpServer::anonymous(host()).limits(limits)).await;
    let answer = server
        .post(&call(
            1,
            "mcp.act",
            &json!({"action": "x".repeat(2000)}),
            &Value::Null,
        ))
        .await;
    assert_eq!(
        (answer.status, answer.code().as_str()),
        (413, "payload_too_large")
    );

    let mut signs = Signs::of_call("mcp-limits");
    let mut waiting = Connection::connect(server.address).await;
    let mut meta = modern();
    meta["skill/invocationId"] = "mcp-limits".into();
    let hang = call(1, "mcp.act", &json!({"action": "hang"}), &meta);
    waiting
        .send(http("POST", "/mcp", &stateless("mcp.act"), &hang))
        .await;
    signs.started().await;
    let answer = server.post(&act()).await;
    assert_eq!(
        (answer.status, failed(&answer.json())),
        (200, ("overloaded".to_owned(), true))
    );
    // A client that goes away frees its place.
    drop(waiting);
    signs.dropped().await;
}

#[tokio::test]
async fn stopping_lets_calls_finish_and_takes_no_new_ones() {
    let server = Server::anonymous().await;
    let mut signs = Signs::of_call("mcp-stopping");
    let mut waiting = Connection::connect(server.address).await;
    let mut meta = modern();
    meta["skill/invocationId"] = "mcp-stopping".into();
    let block = call(1, "mcp.block", &json!({}), &meta);
    waiting
        .send(http("POST", "/mcp", &stateless("mcp.block"), &block))
        .await;
    signs.started().await;
    let ready = async || {
        // Connections are closed after their next answer.
        let mut other = Connection::connect(server.address).await;
        other.send(http("GET", "/readyz", &[], "")).await;
        other.receive().await.status
    };
    assert_eq!(ready().await, 200);
    server.stop.send(()).unwrap();
    while ready().await != 503 {}
    let mut other = Connection::connect(server.address).await;
    other.send(http("POST", "/mcp", &[], &act())).await;
    assert_eq!(
        failed(&other.receive().await.json()),
        ("overloaded".to_owned(), true)
    );
    drop(waiting);
    signs.ended().await;
    server.done.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_outlasts_the_drain_is_answered() {
    let mut options = ServeOptions::default();
    options.drain = std::time::Duration::ZERO;
    let server = Server::with(McpHttpServer::anonymous(host()), options).await;
    let mut signs = Signs::of_call("mcp-drain");
    let mut waiting = Connection::connect(server.address).await;
    let hang = call(
        1,
        "mcp.act",
        &json!({"action": "hang"}),
        &json!({"skill/invocationId": "mcp-drain"}),
    );
    waiting.send(http("POST", "/mcp", &[], &hang)).await;
    signs.started().await;
    server.stop.send(()).unwrap();
    assert_eq!(
        failed(&waiting.receive().await.json()),
        ("overloaded".to_owned(), true)
    );
    signs.dropped().await;
    server.done.await.unwrap().unwrap();
}

#[tokio::test]
async fn operators_have_their_paths() {
    let server = Server::anonymous().await;
    server.post(&act()).await;
    let mut connection = Connection::connect(server.address).await;
    for (target, says) in [
        ("/healthz", "ok"),
        ("/readyz", "ready"),
        ("/metrics", "mcp.act@1"),
    ] {
        connection.send(http("GET", target, &[], "")).await;
        let answer = connection.receive().await;
        assert_eq!(answer.status, 200, "{target}");
        assert!(answer.body.contains(says), "{target}: {}", answer.body);
    }
}
