//! Start and stop of a server.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::time::Duration;

use serde_json::json;
use skill_sdk::http::{BindError, HttpHost, ServeOptions, serve};
use skill_sdk_tests::signs::Signs;
use skill_sdk_tests::wire::{Server, anonymous, request};
use tokio::net::TcpStream;

use super::{GATE, act};

const ACT: &str = "/skills/http.act@1";

fn host() -> HttpHost {
    anonymous(&[act::SKILL])
}

/// Tries to serve; gives the address, or why not.
async fn bound(options: ServeOptions) -> Result<SocketAddr, BindError> {
    let mut addresses = Vec::new();
    serve(
        host(),
        options,
        |address| addresses.push(address),
        std::future::ready(()),
    )
    .await?;
    assert_eq!(addresses.len(), 1, "the address is told once");
    Ok(addresses[0])
}

#[tokio::test]
async fn port_zero_gives_the_real_port() {
    let address = bound(ServeOptions::new("127.0.0.1", 0)).await.unwrap();
    assert_eq!(address.ip(), Ipv4Addr::LOCALHOST);
    assert_ne!(address.port(), 0);
    assert!(
        bound(ServeOptions::new("localhost", 0))
            .await
            .unwrap()
            .ip()
            .is_loopback()
    );
}

#[tokio::test]
async fn anonymous_hosts_bind_loopback_addresses_only() {
    for address in ["0.0.0.0", "::", "192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1"] {
        let error = bound(ServeOptions::new(address, 0)).await.unwrap_err();
        assert!(matches!(error, BindError::NotLoopback(_)), "{address}: {error}");
        let text = error.to_string();
        assert!(
            text.contains(address) && text.contains("--allow-anonymous=anywhere"),
            "{text}"
        );
    }
    let mut options = ServeOptions::new("0.0.0.0", 0);
    options.anonymous_anywhere = true;
    assert!(bound(options).await.unwrap().ip().is_unspecified());
}

#[tokio::test]
async fn an_address_that_cannot_be_bound_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let error = bound(ServeOptions::new("127.0.0.1", port)).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("cannot listen on 127.0.0.1:{port}: ")),
        "{error}"
    );
}

#[tokio::test]
async fn running_calls_finish_and_new_ones_are_refused() {
    let server = Server::of(&[act::SKILL]).await;
    let address = server.address;
    let mut signs = Signs::of_call("drain");
    let (mut idle, mut busy) = (server.connect().await, server.connect().await);
    assert_eq!(idle.get("GET", "/healthz").await.status, 200);
    let body = json!({"invocationId": "drain", "inputs": {"action": "wait"}}).to_string();
    busy.send(request("POST", ACT, &[], &body)).await;
    signs.started().await;

    let done = server.stop();
    // A connection without a call is closed, which also shows that the server began to stop.
    assert!(idle.closed().await.is_empty());
    assert!(
        TcpStream::connect(address).await.is_err(),
        "nobody listens any more"
    );
    assert!(!done.is_finished());

    GATE.add_permits(1);
    let answer = busy.receive().await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, r#"{"result":"wait"}"#)
    );
    assert!(busy.closed().await.is_empty());
    done.await.unwrap().unwrap();
}

#[tokio::test]
async fn calls_that_outlast_the_drain_are_given_up() {
    let mut options = ServeOptions::new("127.0.0.1", 0);
    options.drain = Duration::from_millis(20);
    let server = Server::start(host(), options).await;
    let mut signs = Signs::of_call("outlasts");
    let mut client = server.connect().await;
    let body = json!({"invocationId": "outlasts", "inputs": {"action": "hang"}}).to_string();
    client.send(request("POST", ACT, &[], &body)).await;
    let context = signs.started().await;
    server.stop().await.unwrap().unwrap();
    signs.dropped().await;
    context.cancelled().await;
    assert!(client.closed().await.is_empty());
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
