//! HTTP/2: calls, cancellation, graceful shutdown and the connection limit.

use serde_json::json;
use skill_sdk::http::{HttpServer, Limits, ServeOptions};
use skill_sdk::{SkillContext, skill};
use skill_sdk_tests::http2::Http2;
use skill_sdk_tests::raw_http::{Server, anonymous};
use skill_sdk_tests::skill_events::{self, Body, SkillEvents};
use tokio::time::Instant;

use super::limits::{frame, http_2 as frames};
use super::{act, rejection};

const ACT: &str = "/skills/http.act@1";

/// Waits until its gate opens; its timeout is an hour.
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
async fn calls_are_multiplexed() {
    let server = serve(|_| {}).await;
    let mut client = Http2::connect(server.address).await;
    let mut events = SkillEvents::of_call("h2-waits");
    let waits = client
        .send("POST", ACT, &named("h2-waits", "wait"))
        .await
        .unwrap();
    events.started().await;
    // A call that waits does not block the others.
    let answer = client.ask("POST", ACT, &action("spend")).await.unwrap();
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, r#"{"result":"spend"}"#)
    );
    assert_eq!(answer.header("x-skill-cost"), r#"{"units":{"\u0451":1.5}}"#);
    let answer = client.ask("POST", ACT, "{").await.unwrap();
    assert_eq!(rejection(&answer, 400), ("bad_request".to_owned(), false));
    let answer = client.ask("GET", "/nope", "").await.unwrap();
    assert_eq!(rejection(&answer, 404).0, "not_found");
    skill_events::open_gate("h2-waits");
    assert_eq!(waits.response().await.unwrap().body, r#"{"result":"wait"}"#);
}

#[tokio::test]
async fn resetting_a_stream_cancels_only_its_call() {
    let server = serve(|_| {}).await;
    let mut client = Http2::connect(server.address).await;
    let mut events = SkillEvents::of_call("h2-reset");
    let body = json!({"invocationId": "h2-reset", "inputs": {}}).to_string();
    let stays = client.send("POST", "/skills/http.stay@1", &body).await.unwrap();
    let context = events.started().await;
    drop(stays);
    events.dropped().await;
    context.cancelled().await;
    assert_eq!(client.ask("POST", ACT, &action("a")).await.unwrap().status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_vanished_client_is_detected_by_pings() {
    let server = serve(|_| {}).await;
    let mut client = frames(&server).await;
    let mut events = SkillEvents::of_call("h2-vanished");
    let body = json!({"invocationId": "h2-vanished", "inputs": {}}).to_string();
    // `POST` in HPACK, and the body. After that the client sends nothing, not even a response to a ping.
    let path = "/skills/http.stay@1";
    let mut head = b"\x83\x86\x04".to_vec();
    head.push(u8::try_from(path.len()).unwrap());
    head.extend(path.as_bytes());
    head.extend(b"\x41\x09localhost");
    client.send(frame(1, 4, 1, &head)).await;
    client.send(frame(0, 1, 1, body.as_bytes())).await;
    let context = events.started().await;
    let began = Instant::now();
    events.dropped().await;
    context.cancelled().await;
    let waited = began.elapsed().as_secs();
    assert!((1..=60).contains(&waited), "cancelled after {waited} seconds");
}

#[tokio::test(start_paused = true)]
async fn unfinished_request_headers_time_out() {
    let server = serve(|_| {}).await;
    let mut client = frames(&server).await;
    // The headers announce a continuation frame that never arrives.
    client.send(frame(1, 1, 1, b"\x82\x86\x04\x08/healthz")).await;
    let began = Instant::now();
    client.closed().await;
    let waited = began.elapsed().as_secs();
    assert!((1..=60).contains(&waited), "closed after {waited} seconds");
}

#[tokio::test]
async fn graceful_shutdown_sends_go_away() {
    let server = serve(|_| {}).await;
    let address = server.address;
    let [mut busy, mut idle, mut fresh] = [
        Http2::connect(address).await,
        Http2::connect(address).await,
        Http2::connect(address).await,
    ];
    assert_eq!(idle.ask("GET", "/healthz", "").await.unwrap().status, 200);
    let mut events = SkillEvents::of_call("h2-stops");
    let waits = busy.send("POST", ACT, &named("h2-stops", "wait")).await.unwrap();
    events.started().await;
    let done = server.stop();

    // A connection that was used and is idle is closed at once.
    idle.closed().await.unwrap();
    // A connection that was not used yet, or is new, gets the rejection with its first request.
    let mut late = Http2::connect(address).await;
    for client in [&mut fresh, &mut late] {
        let answer = client.ask("POST", ACT, &action("a")).await.unwrap();
        assert_eq!(rejection(&answer, 503), ("overloaded".to_owned(), true));
        assert_eq!(answer.header("retry-after"), "1");
        client.closed().await.unwrap();
    }
    // A connection with a running call accepts no other call, and is closed after the response.
    while let Ok(answer) = busy.ask("POST", ACT, &action("a")).await {
        assert_eq!(rejection(&answer, 503), ("overloaded".to_owned(), true));
    }
    let error = busy.ask("POST", ACT, &action("a")).await.unwrap_err();
    assert!(
        error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR),
        "{error}"
    );
    assert!(!done.is_finished());
    skill_events::open_gate("h2-stops");
    assert_eq!(waits.response().await.unwrap().body, r#"{"result":"wait"}"#);
    busy.closed().await.unwrap();
    done.await.unwrap().unwrap();
}

#[tokio::test]
async fn http2_connections_over_the_limit_are_rejected() {
    let server = serve(|limits| limits.max_connections = 1).await;
    let mut first = Http2::connect(server.address).await;
    assert_eq!(first.ask("POST", ACT, &action("a")).await.unwrap().status, 200);
    let mut second = Http2::connect(server.address).await;
    let answer = second.ask("POST", ACT, &action("a")).await.unwrap();
    assert_eq!(rejection(&answer, 503), ("overloaded".to_owned(), true));
    second.closed().await.unwrap();
    let mut probe = Http2::connect(server.address).await;
    assert_eq!(probe.ask("GET", "/healthz", "").await.unwrap().status, 200);
    probe.closed().await.unwrap();
    assert_eq!(first.ask("POST", ACT, &action("a")).await.unwrap().status, 200);
}
