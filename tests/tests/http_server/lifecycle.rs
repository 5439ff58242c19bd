//! Start and graceful shutdown of a server.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use skill_sdk::http::{HttpServer, ServeOptions, serve};
use skill_sdk_tests::raw_http::{Client, Server, anonymous, request, until};
use skill_sdk_tests::skill_events::{self, SkillEvents};
use tokio::net::TcpStream;

use super::{act, rejection};

const ACT: &str = "/skills/http.act@1";

fn http_server() -> HttpServer {
    anonymous(&[act::SKILL])
}

/// Tries to serve at an address. Returns the bound address, or the error.
async fn bound(address: &str, options: ServeOptions) -> io::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    serve(http_server(), listener, options, std::future::ready(())).await?;
    Ok(address)
}

/// Waits until the server reports that it is shutting down.
async fn wait_until_stopping(address: SocketAddr) {
    until("it stops", async || {
        Client::connect(address).await.get("GET", "/readyz").await.status != 200
    })
    .await;
}

#[tokio::test]
async fn anonymous_servers_bind_loopback_addresses_only() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let error = bound(address, ServeOptions::default()).await.unwrap_err();
        assert_eq!(
            error.kind(),
            io::ErrorKind::PermissionDenied,
            "{address}: {error}"
        );
        let text = error.to_string();
        let host = address.trim_end_matches('0');
        assert!(
            text.contains(host) && text.contains("--allow-anonymous=anywhere"),
            "{text}"
        );
    }
    for address in ["127.0.0.1:0", "localhost:0"] {
        let address = bound(address, ServeOptions::default()).await.unwrap();
        assert!(address.ip().is_loopback(), "{address}");
    }
    let mut options = ServeOptions::default();
    options.anonymous_anywhere = true;
    assert!(bound("0.0.0.0:0", options).await.unwrap().ip().is_unspecified());
}

#[tokio::test]
async fn shutdown_finishes_running_calls_and_rejects_new_ones() {
    let server = Server::of(&[act::SKILL]).await;
    let address = server.address;
    let mut events = SkillEvents::of_call("drain");
    let (mut idle, mut busy) = (server.connect().await, server.connect().await);
    assert_eq!(idle.get("GET", "/readyz").await.body, r#"{"status":"ready"}"#);
    let body = json!({"invocationId": "drain", "inputs": {"action": "wait"}}).to_string();
    busy.send(request("POST", ACT, &[], &body)).await;
    events.started().await;

    let done = server.stop();
    // The server keeps listening and reports that it is shutting down.
    wait_until_stopping(address).await;
    for mut client in [idle, Client::connect(address).await] {
        let answer = client.post(ACT, r#"{"inputs":{"action":"a"}}"#).await;
        assert_eq!(rejection(&answer, 503), ("overloaded".to_owned(), true));
        assert_eq!(
            (answer.header("connection"), answer.header("retry-after")),
            ("close", "1")
        );
        assert!(client.closed().await.is_empty());
    }
    let mut probe = Client::connect(address).await;
    let answer = probe.get("GET", "/readyz").await;
    assert_eq!(rejection(&answer, 503), ("not_ready".to_owned(), true));
    assert_eq!(
        answer.json()["error"]["details"]["reasons"][0]["code"],
        "draining"
    );
    assert!(probe.closed().await.is_empty());
    assert_eq!(
        Client::connect(address).await.get("GET", "/healthz").await.status,
        200
    );
    assert!(!done.is_finished());

    skill_events::open_gate("drain");
    let answer = busy.receive().await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, r#"{"result":"wait"}"#)
    );
    assert!(busy.closed().await.is_empty());
    done.await.unwrap().unwrap();
    assert!(
        TcpStream::connect(address).await.is_err(),
        "the server no longer listens"
    );
}

#[tokio::test]
async fn calls_over_the_drain_timeout_are_cancelled_with_a_response() {
    let mut options = ServeOptions::default();
    options.drain = Duration::from_millis(20);
    let server = Server::start(http_server(), options).await;
    let mut events = SkillEvents::of_call("outlasts");
    let (mut client, mut slow) = (server.connect().await, server.connect().await);
    // One call is running, and the body of another one is incomplete.
    slow.send(format!(
        "POST {ACT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{{"
    ))
    .await;
    let body = json!({"invocationId": "outlasts", "inputs": {"action": "hang"}}).to_string();
    client.send(request("POST", ACT, &[], &body)).await;
    let context = events.started().await;
    let done = server.stop();
    events.dropped().await;
    context.cancelled().await;
    for client in [&mut client, &mut slow] {
        let answer = client.receive().await;
        assert_eq!(rejection(&answer, 503), ("overloaded".to_owned(), true));
        assert!(client.closed().await.is_empty());
    }
    done.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_body_that_arrives_during_shutdown_is_rejected() {
    let server = Server::of(&[act::SKILL]).await;
    let address = server.address;
    let mut events = SkillEvents::of_call("body-at-the-end");
    let mut busy = server.connect().await;
    let body = json!({"invocationId": "body-at-the-end", "inputs": {"action": "wait"}}).to_string();
    busy.send(request("POST", ACT, &[], &body)).await;
    events.started().await;
    let done = server.stop();
    wait_until_stopping(address).await;
    let mut late = Client::connect(address).await;
    late.send(request(
        "POST",
        ACT,
        &[("Expect", "100-continue"), ("Content-Length", "20")],
        "",
    ))
    .await;
    // The server waits for its body.
    assert_eq!(late.receive().await.status, 100);
    skill_events::open_gate("body-at-the-end");
    assert_eq!(busy.receive().await.status, 200);
    assert_eq!(
        rejection(&late.receive().await, 503),
        ("overloaded".to_owned(), true)
    );
    assert!(late.closed().await.is_empty());
    done.await.unwrap().unwrap();
}

#[tokio::test]
async fn an_idle_server_stops_at_once() {
    let server = Server::of(&[act::SKILL]).await;
    // Neither a connection without a request nor an idle one delays the shutdown.
    let mut silent = server.connect().await;
    let mut idle = server.connect().await;
    assert_eq!(idle.get("GET", "/healthz").await.status, 200);
    server.stop().await.unwrap().unwrap();
    assert!(silent.closed().await.is_empty() && idle.closed().await.is_empty());
}
