//! Operating an MCP server on a port: limits, graceful shutdown, operational paths.

use serde_json::{Value, json};
use skill_sdk::http::{Limits, ServeOptions};
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk_tests::raw_http::Client as Connection;
use skill_sdk_tests::skill_events::SkillEvents;

use super::client::{Server, call, http, mcp_server, stateless, stateless_meta, tool_failure};

fn act() -> String {
    call(1, "mcp.act", &json!({"action": "a"}), &Value::Null)
}

#[tokio::test]
async fn limits_apply() {
    let mut limits = Limits::default();
    limits.max_body_bytes = 1000;
    limits.concurrency = 1;
    let server = Server::of(McpHttpServer::anonymous(mcp_server()).limits(limits)).await;
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

    let mut events = SkillEvents::of_call("mcp-limits_apply");
    let mut waiting = Connection::connect(server.address).await;
    let mut meta = stateless_meta();
    meta["skill/invocationId"] = "mcp-limits_apply".into();
    let hang = call(1, "mcp.act", &json!({"action": "hang"}), &meta);
    waiting
        .send(http("POST", "/mcp", &stateless("mcp.act"), &hang))
        .await;
    events.started().await;
    let answer = server.post(&act()).await;
    assert_eq!(
        (answer.status, tool_failure(&answer.json())),
        (200, ("overloaded".to_owned(), true))
    );
    // A client that disconnects frees its permit.
    drop(waiting);
    events.dropped().await;
}

#[tokio::test]
async fn shutdown_finishes_running_calls_and_rejects_new_ones() {
    let server = Server::anonymous().await;
    let mut events = SkillEvents::of_call("mcp-stopping");
    let mut waiting = Connection::connect(server.address).await;
    let mut meta = stateless_meta();
    meta["skill/invocationId"] = "mcp-stopping".into();
    let block = call(1, "mcp.block", &json!({}), &meta);
    waiting
        .send(http("POST", "/mcp", &stateless("mcp.block"), &block))
        .await;
    events.started().await;
    let ready = async || {
        // Connections are closed after their next response.
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
        tool_failure(&other.receive().await.json()),
        ("overloaded".to_owned(), true)
    );
    drop(waiting);
    events.ended().await;
    server.done.await.unwrap().unwrap();
}

#[tokio::test]
async fn calls_over_the_drain_timeout_get_a_response() {
    let mut options = ServeOptions::default();
    options.drain = std::time::Duration::ZERO;
    let server = Server::with(McpHttpServer::anonymous(mcp_server()), options).await;
    let mut events = SkillEvents::of_call("mcp-drain");
    let mut waiting = Connection::connect(server.address).await;
    let hang = call(
        1,
        "mcp.act",
        &json!({"action": "hang"}),
        &json!({"skill/invocationId": "mcp-drain"}),
    );
    waiting.send(http("POST", "/mcp", &[], &hang)).await;
    events.started().await;
    server.stop.send(()).unwrap();
    assert_eq!(
        tool_failure(&waiting.receive().await.json()),
        ("overloaded".to_owned(), true)
    );
    events.dropped().await;
    server.done.await.unwrap().unwrap();
}

#[tokio::test]
async fn operational_paths_are_served() {
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
