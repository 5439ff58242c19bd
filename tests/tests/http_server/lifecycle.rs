//! Start and stop of a server.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use skill_sdk::http::{HttpServer, ServeOptions, serve};
use skill_sdk_tests::signs::{self, Signs};
use skill_sdk_tests::wire::{Client, Server, anonymous, request, until};
use tokio::net::TcpStream;

use super::{act, refused};

const ACT: &str = "/skills/http.act@1";

fn host() -> HttpServer {
    anonymous(&[act::SKILL])
}

/// Tries to serve at an address; gives the real one, or why not.
async fn bound(address: &str, options: ServeOptions) -> io::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind(address).await?;
    let address = listener.local_addr()?;
    serve(host(), listener, options, std::future::ready(())).await?;
    Ok(address)
}

/// Waits until the server knows that it is to stop.
async fn it_stops(address: SocketAddr) {
    until("it stops", async || {
        Client::connect(address).await.get("GET", "/readyz").await.status != 200
    })
    .await;
}

#[tokio::test]
async fn anonymous_hosts_serve_loopback_addresses_only() {
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
async fn running_calls_finish_and_new_ones_are_refused() {
    let server = Server::of(&[act::SKILL]).await;
    let address = server.address;
    let mut signs = Signs::of_call("drain");
    let (mut idle, mut busy) = (server.connect().await, server.connect().await);
    assert_eq!(idle.get("GET", "/readyz").await.body, r#"{"status":"ready"}"#);
    let body = json!({"invocationId": "drain", "inputs": {"action": "wait"}}).to_string();
    busy.send(request("POST", ACT, &[], &body)).await;
    signs.started().await;

    let done = server.stop();
    // The server goes on listening, and says what it is about.
    it_stops(address).await;
    for mut client in [idle, Client::connect(address).await] {
        let answer = client.post(ACT, r#"{"inputs":{"action":"a"}}"#).await;
        assert_eq!(refused(&answer, 503), ("overloaded".to_owned(), true));
        assert_eq!(
            (answer.header("connection"), answer.header("retry-after")),
            ("close", "1")
        );
        assert!(client.closed().await.is_empty());
    }
    let mut probe = Client::connect(address).await;
    let answer = probe.get("GET", "/readyz").await;
    assert_eq!(refused(&answer, 503), ("not_ready".to_owned(), true));
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

    signs::open_gate("drain");
    let answer = busy.receive().await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, r#"{"result":"wait"}"#)
    );
    assert!(busy.closed().await.is_empty());
    done.await.unwrap().unwrap();
    assert!(
        TcpStream::connect(address).await.is_err(),
        "nobody listens any more"
    );
}

#[tokio::test]
async fn calls_that_outlast_the_drain_are_cancelled_and_told_so() {
    let mut options = ServeOptions::default();
    options.drain = Duration::from_millis(20);
    let server = Server::start(host(), options).await;
    let mut signs = Signs::of_call("outlasts");
    let (mut client, mut slow) = (server.connect().await, server.connect().await);
    // One call runs, and the body of another is on its way.
    slow.send(format!(
        "POST {ACT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{{"
    ))
    .await;
    let body = json!({"invocationId": "outlasts", "inputs": {"action": "hang"}}).to_string();
    client.send(request("POST", ACT, &[], &body)).await;
    let context = signs.started().await;
    let done = server.stop();
    signs.dropped().await;
    context.cancelled().await;
    for client in [&mut client, &mut slow] {
        let answer = client.receive().await;
        assert_eq!(refused(&answer, 503), ("overloaded".to_owned(), true));
        assert!(client.closed().await.is_empty());
    }
    done.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_body_that_is_on_its_way_at_the_end_is_refused() {
    let server = Server::of(&[act::SKILL]).await;
    let address = server.address;
    let mut signs = Signs::of_call("body-at-the-end");
    let mut busy = server.connect().await;
    let body = json!({"invocationId": "body-at-the-end", "inputs": {"action": "wait"}}).to_string();
    busy.send(request("POST", ACT, &[], &body)).await;
    signs.started().await;
    let done = server.stop();
    it_stops(address).await;
    let mut late = Client::connect(address).await;
    late.send(request(
        "POST",
        ACT,
        &[("Expect", "100-continue"), ("Content-Length", "20")],
        "",
    ))
    .await;
    // Its body is waited for.
    assert_eq!(late.receive().await.status, 100);
    signs::open_gate("body-at-the-end");
    assert_eq!(busy.receive().await.status, 200);
    assert_eq!(
        refused(&late.receive().await, 503),
        ("overloaded".to_owned(), true)
    );
    assert!(late.closed().await.is_empty());
    done.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_server_without_calls_stops_at_once() {
    let server = Server::of(&[act::SKILL]).await;
    // Neither a client that said nothing nor one that waits holds it up.
    let mut silent = server.connect().await;
    let mut idle = server.connect().await;
    assert_eq!(idle.get("GET", "/healthz").await.status, 200);
    server.stop().await.unwrap().unwrap();
    assert!(silent.closed().await.is_empty() && idle.closed().await.is_empty());
}
