//! Answers that are streams: progress over HTTP.

use std::time::Duration;

use serde_json::{Value, json};
use skill_sdk::http::Limits;
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk_tests::signs::Signs;
use skill_sdk_tests::wire::Client as Connection;

use super::client::{Server, Times, call, failed, host, http, modern, stateless};

/// The JSON documents of the events in a chunked body.
fn events(raw: &str) -> Vec<Value> {
    raw.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[tokio::test]
async fn progress_makes_a_stream_that_ends_with_the_result() {
    let server = Server::anonymous().await;
    let message = call(
        1,
        "mcp.act",
        &json!({"action": "progress"}),
        &json!({"progressToken": "p"}),
    );
    let mut connection = Connection::connect(server.address).await;
    connection
        .send(http("POST", "/mcp", &[("Connection", "close")], &message))
        .await;
    let raw = String::from_utf8(connection.closed().await).unwrap();
    let (head, body) = raw.split_once("\r\n\r\n").unwrap();
    let head = head.to_ascii_lowercase();
    assert!(head.starts_with("http/1.1 200"), "{head}");
    for header in [
        "content-type: text/event-stream",
        "cache-control: no-cache",
        "x-accel-buffering: no",
    ] {
        assert!(head.contains(header), "{head}");
    }
    let events = events(body);
    let progress: Vec<_> = events
        .iter()
        .map(|event| event["params"]["progress"].as_f64())
        .collect();
    assert_eq!(progress, [Some(1.0), Some(1.0), Some(2.0), None]);
    assert_eq!(events[3]["result"]["structuredContent"]["result"], "progress");
}

#[tokio::test]
async fn an_open_stream_does_not_keep_the_server() {
    let mut options = skill_sdk::http::ServeOptions::default();
    options.drain = std::time::Duration::ZERO;
    let server = Server::with(McpHttpServer::anonymous(host()), options).await;
    let meta = json!({"progressToken": "p", "skill/invocationId": "mcp-open-stream"});
    let mut signs = Signs::of_call("mcp-open-stream");
    let message = call(1, "mcp.act", &json!({"action": "hang"}), &meta);
    let mut connection = Connection::connect(server.address).await;
    connection.send(http("POST", "/mcp", &[], &message)).await;
    signs.started().await;
    connection.receive_head().await;
    server.stop.send(()).unwrap();
    let rest = String::from_utf8(connection.closed().await).unwrap();
    let events = events(&rest);
    assert_eq!(events.last().unwrap()["result"]["isError"], true, "{rest}");
    signs.dropped().await;
    server.done.await.unwrap().unwrap();
}

#[tokio::test]
async fn without_progress_the_answer_is_json() {
    let server = Server::anonymous().await;
    let token = json!({"progressToken": "p"});
    let quiet = call(1, "mcp.act", &json!({"action": "a"}), &token);
    assert_eq!(
        server.post(&quiet).await.header("content-type"),
        "application/json"
    );
    let loud = call(1, "mcp.act", &json!({"action": "progress"}), &token);
    let answer = server.post_with(&loud, &[("Accept", "application/json")]).await;
    assert_eq!(answer.header("content-type"), "application/json");
    let untold = call(1, "mcp.act", &json!({"action": "progress"}), &Value::Null);
    assert_eq!(
        server.post(&untold).await.header("content-type"),
        "application/json"
    );
}

#[tokio::test]
async fn a_client_that_closes_its_connection_cancels() {
    let server = Server::anonymous().await;
    for (tool, arguments, token) in [
        ("mcp.act", json!({"action": "hang"}), Value::Null),
        ("mcp.act", json!({"action": "hang"}), json!("p")),
        ("mcp.block", json!({}), Value::Null),
    ] {
        let mut times = Times::default();
        while let Some(attempt) = times.next() {
            let invocation = format!("mcp-closes-{tool}-{token}-{attempt}");
            let mut meta = modern();
            meta["skill/invocationId"] = invocation.as_str().into();
            if !token.is_null() {
                meta["progressToken"] = token.clone();
            }
            let mut signs = Signs::of_call(&invocation);
            let mut connection = Connection::connect(server.address).await;
            let message = call(1, tool, &arguments, &meta);
            connection
                .send(http("POST", "/mcp", &stateless(tool), &message))
                .await;
            let context = signs.started().await;
            if !token.is_null() {
                // The stream has begun.
                connection.receive_head().await;
            }
            let start = std::time::Instant::now();
            drop(connection);
            context.cancelled().await;
            times.add(start.elapsed());
            signs.next().await;
        }
        assert!(times.are_good(), "{tool}: {times:?}");
    }
}

#[tokio::test]
async fn in_a_revision_with_initialize_a_disconnect_does_not_cancel() {
    let server = Server::anonymous().await;
    for (number, token) in [Value::Null, json!("p")].into_iter().enumerate() {
        let invocation = format!("mcp-goes-on-{number}");
        let mut signs = Signs::of_call(&invocation);
        let mut meta = json!({"skill/invocationId": invocation});
        if !token.is_null() {
            meta["progressToken"] = token.clone();
        }
        let message = call(7, "mcp.act", &json!({"action": "hang"}), &meta);
        let mut connection = Connection::connect(server.address).await;
        connection.send(http("POST", "/mcp", &[], &message)).await;
        let context = signs.started().await;
        if !token.is_null() {
            connection.receive_head().await;
        }
        drop(connection);
        // In a stateless revision that cancels within 250 ms.
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(!context.is_cancelled(), "{token}");
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
        assert_eq!(server.post(&cancel.to_string()).await.status, 202);
        context.cancelled().await;
        signs.next().await;
    }
}

#[tokio::test]
async fn a_large_response_keeps_its_permit_until_it_is_written() {
    let mut limits = Limits::default();
    limits.concurrency = 1;
    let server = Server::of(McpHttpServer::anonymous(host()).limits(limits)).await;
    let act = call(1, "mcp.act", &json!({"action": "a"}), &Value::Null);
    for accept in ["application/json", "application/json, text/event-stream"] {
        let mut unread = Connection::connect(server.address).await;
        let large = call(1, "mcp.large", &json!({"bytes": 20_000_000}), &Value::Null);
        unread
            .send(http("POST", "/mcp", &[("Accept", accept)], &large))
            .await;
        unread.receive_head().await;
        let answer = server.post(&act).await.json();
        assert_eq!(failed(&answer).0, "overloaded", "{accept}");
        drop(unread);
        while server.post(&act).await.json()["result"]["isError"] == true {}
    }
}
