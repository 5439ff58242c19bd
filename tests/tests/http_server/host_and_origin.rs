//! Host and origin checks of a server without authentication, and the management port.

use std::net::TcpListener;
use std::time::Duration;

use serde_json::json;
use skill_sdk::http::ServeOptions;
use skill_sdk_tests::raw_http::{Client, Server, anonymous, request};
use skill_sdk_tests::skill_events::SkillEvents;

use super::{act, rejection};

const ACT: &str = "/skills/http.act@1";

/// A call with these headers. A `Host` among them replaces `Host: localhost`.
fn call(host: &str, headers: &[(&str, &str)]) -> String {
    let body = json!({"inputs": {"action": "a"}}).to_string();
    request("POST", ACT, headers, &body).replacen("Host: localhost", &format!("Host: {host}"), 1)
}

#[tokio::test]
async fn foreign_origins_and_hosts_are_rejected() {
    let server = Server::of(&[act::SKILL]).await;
    let page = ("Origin", "https://evil.example");
    let mut client = server.connect().await;
    for text in [
        call("evil.example:8080", &[]),
        call("localhost", &[page]),
        call("127.0.0.1", &[("Sec-Fetch-Site", "cross-site")]),
    ] {
        client.send(text).await;
        let response = client.receive().await;
        assert_eq!(rejection(&response, 403), ("forbidden".to_owned(), false));
    }
    for text in [
        call("localhost:1", &[]),
        call("127.0.0.1", &[("Origin", "http://localhost:3000")]),
        call("[::1]:80", &[("Sec-Fetch-Site", "same-origin")]),
    ] {
        client.send(text).await;
        assert_eq!(client.receive().await.status, 200);
    }
    // Probes can use an IP address or any host name.
    client
        .send(request("GET", "/healthz", &[], "").replacen("localhost", "evil.example", 1))
        .await;
    assert_eq!(client.receive().await.status, 200);

    let http = anonymous(&[act::SKILL]);
    let http = http
        .allow_host("evil.example")
        .and_then(|http| http.allow_origin(page.1));
    let server = Server::start(http.unwrap(), ServeOptions::default()).await;
    let mut client = server.connect().await;
    client.send(call("evil.example:8080", &[page])).await;
    assert_eq!(client.receive().await.status, 200);
    for value in ["a/b", ""] {
        assert!(anonymous(&[act::SKILL]).allow_host(value).is_err(), "{value}");
        assert!(anonymous(&[act::SKILL]).allow_origin(value).is_err(), "{value}");
    }
}

#[tokio::test]
async fn the_management_port_responds_while_all_threads_are_blocked() {
    let management = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = management.local_addr().unwrap();
    let mut options = ServeOptions::default();
    options.ops = Some(management);
    let server = Server::start(anonymous(&[act::SKILL]), options).await;
    let mut events = SkillEvents::of_call("ops");
    let mut busy = server.connect().await;
    let body = json!({"invocationId": "ops", "inputs": {"action": "hang"}}).to_string();
    busy.send(request("POST", ACT, &[], &body)).await;
    events.started().await;
    // The only thread of this test is blocked, so another thread sends the request.
    let asked = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let mut client = Client::connect(address).await;
            let mut statuses = Vec::new();
            for target in ["/healthz", "/readyz", "/metrics", "/skills"] {
                statuses.push(client.get("GET", target).await.status);
            }
            (statuses, client.get("GET", "/metrics").await.body)
        })
    });
    let (statuses, metrics) = asked.join().unwrap();
    assert_eq!(statuses, [200, 503, 200, 404]);
    assert!(metrics.contains("skill_sdk_calls_in_flight{skill=\"http.act@1\"} 1\n"));
    tokio::time::sleep(Duration::from_millis(1)).await;
    let mut client = Client::connect(address).await;
    assert_eq!(client.get("GET", "/readyz").await.status, 200);
    drop(busy);
    server.stop().await.unwrap().unwrap();
}
