//! HTTP/2: calls, answers that are not taken, the end of a host.

use serde_json::json;
use skill_sdk::http::{HttpServer, Limits, ServeOptions};
use skill_sdk::{SkillContext, skill};
use skill_sdk_tests::http2::Http2;
use skill_sdk_tests::signs::{self, Body, Signs};
use skill_sdk_tests::wire::{Server, anonymous};
use tokio::time::Instant;

use super::limits::{frame, http_2 as frames};
use super::{act, refused};

const ACT: &str = "/skills/http.act@1";

/// Stays for hours.
#[skill(
    "http.stay",
    version = "1",
    side_effects = "none",
    risk = "low",
    timeout = 3600
)]
async fn stay(ctx: &SkillContext) {
    let _body = Body::begins(ctx);
    std::future::pending::<()>().await;
}

fn limited(change: impl FnOnce(&mut Limits)) -> HttpServer {
    let mut limits = Limits::default();
    change(&mut limits);
    anonymous(&[act::SKILL, stay::SKILL]).limits(limits)
}

async fn serve(change: impl FnOnce(&mut Limits)) -> Server {
    Server::start(limited(change), ServeOptions::default()).await
}

fn action(action: &str) -> String {
    json!({"inputs": {"action": action}}).to_string()
}

fn named(id: &str, action: &str) -> String {
    json!({"invocationId": id, "inputs": {"action": action}}).to_string()
}

#[tokio::test]
async fn calls_share_a_connection() {
    let server = serve(|_| {}).await;
    let mut client = Http2::connect(server.address).await;
    let mut signs = Signs::of_call("h2-waits");
    let waits = client
        .send("POST", ACT, &named("h2-waits", "wait"))
        .await
        .unwrap();
    signs.started().await;
    // One that waits keeps nobody.
    let answer = client.ask("POST", ACT, &action("spend")).await.unwrap();
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, r#"{"result":"spend"}"#)
    );
    assert_eq!(answer.header("x-skill-cost"), r#"{"units":{"\u0451":1.5}}"#);
    let answer = client.ask("POST", ACT, "{").await.unwrap();
    assert_eq!(refused(&answer, 400), ("bad_request".to_owned(), false));
    let answer = client.ask("GET", "/nope", "").await.unwrap();
    assert_eq!(refused(&answer, 404).0, "not_found");
    signs::open_gate("h2-waits");
    assert_eq!(waits.answer().await.unwrap().body, r#"{"result":"wait"}"#);
}

#[tokio::test]
async fn a_call_that_is_reset_is_cancelled_and_the_others_go_on() {
    let server = serve(|_| {}).await;
    let mut client = Http2::connect(server.address).await;
    let mut signs = Signs::of_call("h2-reset");
    let body = json!({"invocationId": "h2-reset", "inputs": {}}).to_string();
    let stays = client.send("POST", "/skills/http.stay@1", &body).await.unwrap();
    let context = signs.started().await;
    drop(stays);
    signs.dropped().await;
    context.cancelled().await;
    assert_eq!(client.ask("POST", ACT, &action("a")).await.unwrap().status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_vanished_loses_its_call() {
    let server = serve(|_| {}).await;
    let mut client = frames(&server).await;
    let mut signs = Signs::of_call("h2-vanished");
    let body = json!({"invocationId": "h2-vanished", "inputs": {}}).to_string();
    // `POST`, as HPACK says it, and the body. Nothing is sent after it, no answer to a ping either.
    let path = "/skills/http.stay@1";
    let mut head = b"\x83\x86\x04".to_vec();
    head.push(u8::try_from(path.len()).unwrap());
    head.extend(path.as_bytes());
    head.extend(b"\x41\x09localhost");
    client.send(frame(1, 4, 1, &head)).await;
    client.send(frame(0, 1, 1, body.as_bytes())).await;
    let context = signs.started().await;
    let began = Instant::now();
    signs.dropped().await;
    context.cancelled().await;
    let waited = began.elapsed().as_secs();
    assert!((1..=60).contains(&waited), "cancelled after {waited} seconds");
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_end_is_not_waited_for() {
    let server = serve(|_| {}).await;
    let mut client = frames(&server).await;
    // Headers that go on in another frame, which never comes.
    client.send(frame(1, 1, 1, b"\x82\x86\x04\x08/healthz")).await;
    let began = Instant::now();
    client.closed().await;
    let waited = began.elapsed().as_secs();
    assert!((1..=60).contains(&waited), "closed after {waited} seconds");
}

#[tokio::test]
async fn a_host_that_stops_says_so_on_connections_of_http_2() {
    let server = serve(|_| {}).await;
    let address = server.address;
    let [mut busy, mut idle, mut fresh] = [
        Http2::connect(address).await,
        Http2::connect(address).await,
        Http2::connect(address).await,
    ];
    assert_eq!(idle.ask("GET", "/healthz", "").await.unwrap().status, 200);
    let mut signs = Signs::of_call("h2-stops");
    let waits = busy.send("POST", ACT, &named("h2-stops", "wait")).await.unwrap();
    signs.started().await;
    let done = server.stop();

    // A connection that was used and waits is ended at once.
    idle.closed().await.unwrap();
    // One that was not used, or comes now, is told with its first request.
    let mut late = Http2::connect(address).await;
    for client in [&mut fresh, &mut late] {
        let answer = client.ask("POST", ACT, &action("a")).await.unwrap();
        assert_eq!(refused(&answer, 503), ("overloaded".to_owned(), true));
        assert_eq!(answer.header("retry-after"), "1");
        client.closed().await.unwrap();
    }
    // One with a call takes no other, and ends with the answer.
    while let Ok(answer) = busy.ask("POST", ACT, &action("a")).await {
        assert_eq!(refused(&answer, 503), ("overloaded".to_owned(), true));
    }
    let error = busy.ask("POST", ACT, &action("a")).await.unwrap_err();
    assert!(
        error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR),
        "{error}"
    );
    assert!(!done.is_finished());
    signs::open_gate("h2-stops");
    assert_eq!(waits.answer().await.unwrap().body, r#"{"result":"wait"}"#);
    busy.closed().await.unwrap();
    done.await.unwrap().unwrap();
}

#[tokio::test]
async fn connections_over_the_limit_are_told_so_over_http_2() {
    let server = serve(|limits| limits.max_connections = 1).await;
    let mut first = Http2::connect(server.address).await;
    assert_eq!(first.ask("POST", ACT, &action("a")).await.unwrap().status, 200);
    let mut second = Http2::connect(server.address).await;
    let answer = second.ask("POST", ACT, &action("a")).await.unwrap();
    assert_eq!(refused(&answer, 503), ("overloaded".to_owned(), true));
    second.closed().await.unwrap();
    let mut probe = Http2::connect(server.address).await;
    assert_eq!(probe.ask("GET", "/healthz", "").await.unwrap().status, 200);
    probe.closed().await.unwrap();
    assert_eq!(first.ask("POST", ACT, &action("a")).await.unwrap().status, 200);
}
