//! Streaming responses: progress over HTTP.

use std::time::Duration;

use serde_json::{Value, json};
use skill_sdk::http::Limits;
use skill_sdk::mcp::http::McpHttpServer;
use skill_sdk_tests::raw_http::Client as Connection;
use skill_sdk_tests::skill_events::SkillEvents;

use super::client::{Server, Times, call, http, mcp_server, stateless, stateless_meta, tool_failure};

/// The JSON documents of the events in a chunked body.
fn stream_events(raw: &str) -> Vec<Value> {
    raw.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[tokio::test]
async fn a_stream_of_progress_ends_with_the_result() {
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
    let documents = stream_events(body);
    let progress: Vec<_> = documents
        .iter()
        .map(|event| event["params"]["progress"].as_f64())
        .collect();
    assert_eq!(progress, [Some(1.0), Some(1.0), Some(2.0), None]);
    assert_eq!(documents[3]["result"]["structuredContent"]["result"], "progress");
}

#[tokio::test]
async fn an_open_stream_does_not_delay_shutdown() {
    let mut options = skill_sdk::http::ServeOptions::default();
    options.drain = std::time::Duration::ZERO;
    let server = Server::with(McpHttpServer::anonymous(mcp_server()), options).await;
    let meta = json!({"progressToken": "p", "skill/invocationId": "mcp-open-stream"});
    let mut events = SkillEvents::of_call("mcp-open-stream");
    let message = call(1, "mcp.act", &json!({"action": "hang"}), &meta);
    let mut connection = Connection::connect(server.address).await;
    connection.send(http("POST", "/mcp", &[], &message)).await;
    events.started().await;
    connection.receive_head().await;
    server.stop.send(()).unwrap();
    let rest = String::from_utf8(connection.closed().await).unwrap();
    let documents = stream_events(&rest);
    assert_eq!(documents.last().unwrap()["result"]["isError"], true, "{rest}");
    events.dropped().await;
    server.done.await.unwrap().unwrap();
}

#[tokio::test]
async fn without_progress_the_response_is_json() {
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
async fn a_disconnect_cancels_the_call() {
    let server = Server::anonymous().await;
    for (tool, arguments, token) in [
        ("mcp.act", json!({"action": "hang"}), Value::Null),
        ("mcp.act", json!({"action": "hang"}), json!("p")),
        ("mcp.block", json!({}), Value::Null),
    ] {
        let mut times = Times::default();
        while let Some(attempt) = times.next() {
            let invocation = format!("mcp-closes-{tool}-{token}-{attempt}");
            let mut meta = stateless_meta();
            meta["skill/invocationId"] = invocation.as_str().into();
            if !token.is_null() {
                meta["progressToken"] = token.clone();
            }
            let mut events = SkillEvents::of_call(&invocation);
            let mut connection = Connection::connect(server.address).await;
            let message = call(1, tool, &arguments, &meta);
            connection
                .send(http("POST", "/mcp", &stateless(tool), &message))
                .await;
            let context = events.started().await;
            if !token.is_null() {
                // The stream has started.
                connection.receive_head().await;
            }
            let start = std::time::Instant::now();
            drop(connection);
            context.cancelled().await;
            times.add(start.elapsed());
            events.next().await;
        }
        assert!(times.are_short(), "{tool}: {times:?}");
    }
}

#[tokio::test]
async fn a_disconnect_does_not_cancel_in_initialize_based_revisions() {
    let server = Server::anonymous().await;
    for (number, token) in [Value::Null, json!("p")].into_iter().enumerate() {
        let invocation = format!("mcp-goes-on-{number}");
        let mut events = SkillEvents::of_call(&invocation);
        let mut meta = json!({"skill/invocationId": invocation});
        if !token.is_null() {
            meta["progressToken"] = token.clone();
        }
        let message = call(7, "mcp.act", &json!({"action": "hang"}), &meta);
        let mut connection = Connection::connect(server.address).await;
        connection.send(http("POST", "/mcp", &[], &message)).await;
        let context = events.started().await;
        if !token.is_null() {
            connection.receive_head().await;
        }
        drop(connection);
        // In the stateless revision a disconnect cancels the call within 250 ms.
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(!context.is_cancelled(), "{token}");
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
        assert_eq!(server.post(&cancel.to_string()).await.status, 202);
        context.cancelled().await;
        events.next().await;
    }
}

#[tokio::test]
async fn a_large_response_keeps_its_permit_until_it_is_written() {
    let mut limits = Limits::default();
    limits.concurrency = 1;
    let server = Server::of(McpHttpServer::anonymous(mcp_server()).limits(limits)).await;
    let act = call(1, "mcp.act", &json!({"action": "a"}), &Value::Null);
    for accept in ["application/json", "application/json, text/event-stream"] {
        let mut unread = Connection::connect(server.address).await;
        let large = call(1, "mcp.large", &json!({"bytes": 20_000_000}), &Value::Null);
        unread
            .send(http("POST", "/mcp", &[("Accept", accept)], &large))
            .await;
        unread.receive_head().await;
        let answer = server.post(&act).await.json();
        assert_eq!(tool_failure(&answer).0, "overloaded", "{accept}");
        drop(unread);
        while server.post(&act).await.json()["result"]["isError"] == true {}
    }
}
