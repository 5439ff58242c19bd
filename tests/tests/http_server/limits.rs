//! Limits and timeouts of the server, and what it responds beyond them.

use std::time::Duration;

use serde_json::json;
use skill_sdk::http::{HttpServer, Limits, ServeOptions};
use skill_sdk_tests::raw_http::{Client, Server, anonymous, request, until};
use skill_sdk_tests::skill_events::{self, SkillEvents};
use tokio::time::{Instant, sleep};

use super::{act, ignore_cancellation, rejection, unclassified};

const ACT: &str = "/skills/http.act@1";
const DEAF: &str = "/skills/http.deaf@1";

fn limited(change: impl FnOnce(&mut Limits)) -> HttpServer {
    let mut limits = Limits::default();
    change(&mut limits);
    anonymous(&[act::SKILL, unclassified::SKILL]).limits(limits)
}

async fn serve(change: impl FnOnce(&mut Limits)) -> Server {
    Server::start(limited(change), ServeOptions::default()).await
}

fn action(action: &str) -> String {
    json!({"inputs": {"action": action}}).to_string()
}

/// The value of a metric of the server.
async fn metric(server: &Server, name: &str) -> String {
    let text = server.connect().await.get("GET", "/metrics").await.body;
    let line = text.lines().find(|line| line.split(' ').next() == Some(name));
    let value = line.and_then(|line| line.split(' ').nth(1));
    value.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
}

#[tokio::test]
async fn the_limit_of_one_skill_does_not_affect_others() {
    let server = serve(|limits| {
        limits.skills.insert("http.act".into(), 1);
    })
    .await;
    let mut events = SkillEvents::of_call("skill-limit");
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    let body = json!({"invocationId": "skill-limit", "inputs": {"action": "wait"}}).to_string();
    first.send(request("POST", ACT, &[], &body)).await;
    events.started().await;
    assert_eq!(
        metric(&server, "skill_sdk_calls_in_flight{skill=\"http.act@1\"}").await,
        "1"
    );
    let answer = second.post(ACT, &action("a")).await;
    assert_eq!(rejection(&answer, 429), ("overloaded".to_owned(), true));
    assert_eq!(answer.header("retry-after"), "1");
    let other = second
        .post("/skills/http.unclassified@1", r#"{"inputs":{}}"#)
        .await;
    assert_eq!(rejection(&other, 500).0, "skill_error");
    skill_events::open_gate("skill-limit");
    assert_eq!(first.receive().await.status, 200);
    assert_eq!(second.post(ACT, &action("a")).await.status, 200);
    assert_eq!(
        metric(&server, "skill_sdk_refusals_total{code=\"overloaded\"}").await,
        "1"
    );
    assert_eq!(
        metric(&server, "skill_sdk_calls_in_flight{skill=\"http.act@1\"}").await,
        "0"
    );
}

#[tokio::test]
async fn slow_polls_are_counted() {
    let server = Server::start(anonymous(&[act::SKILL]), ServeOptions::default()).await;
    let slow = "skill_sdk_slow_polls_total{skill=\"http.act@1\"}";
    assert_eq!(metric(&server, slow).await, "0");
    let mut client = server.connect().await;
    assert_eq!(client.post(ACT, &action("stall")).await.status, 200);
    assert_eq!(client.post(ACT, &action("a")).await.status, 200);
    assert_eq!(metric(&server, slow).await, "1");
}

/// A server of a skill that blocks its thread, and of other skills.
async fn serve_blocking_skill(change: impl FnOnce(&mut Limits)) -> Server {
    let mut limits = Limits::default();
    change(&mut limits);
    let http = anonymous(&[act::SKILL, ignore_cancellation::SKILL, unclassified::SKILL]).limits(limits);
    Server::start(http, ServeOptions::default()).await
}

/// Leaves a blocked thread behind: the client disconnects, and the skill ignores the cancellation.
async fn leave_blocked_thread(server: &Server, invocation: &str) -> SkillEvents {
    let mut events = SkillEvents::of_call(invocation);
    let mut client = server.connect().await;
    let body = json!({"invocationId": invocation, "inputs": {}}).to_string();
    client.send(request("POST", DEAF, &[], &body)).await;
    let context = events.started().await;
    drop(client);
    context.cancelled().await;
    let in_flight = "skill_sdk_calls_in_flight{skill=\"http.deaf@1\"}";
    until("the call is over", async || {
        metric(server, in_flight).await == "0"
    })
    .await;
    events
}

#[tokio::test]
async fn a_thread_that_outlives_its_call_keeps_its_permit() {
    // First the limit of the skill, with room for other skills, then the limit of the server.
    for (status, invocation) in [(429, "left-in-skill"), (503, "left-in-host")] {
        let server = serve_blocking_skill(|limits| match status {
            429 => drop(limits.skills.insert("http.deaf".into(), 1)),
            _ => limits.concurrency = 1,
        })
        .await;
        let mut events = leave_blocked_thread(&server, invocation).await;
        let left = "skill_sdk_calls_abandoned{skill=\"http.deaf@1\"}";
        assert_eq!(metric(&server, left).await, "1");
        let mut client = server.connect().await;
        for _ in 0..20 {
            let answer = client.post(DEAF, r#"{"inputs":{}}"#).await;
            assert_eq!(rejection(&answer, status), ("overloaded".to_owned(), true));
        }
        let other = client.post(ACT, &action("a")).await;
        assert_eq!(other.status, if status == 429 { 200 } else { 503 });
        skill_events::open_gate(invocation);
        events.ended().await;
        until("the thread is over", async || metric(&server, left).await == "0").await;
        assert_eq!(client.post(ACT, &action("a")).await.status, 200);
        // Shutdown does not wait for a thread that cannot be stopped.
        let last = format!("{invocation}-2");
        leave_blocked_thread(&server, &last).await;
        server.stop().await.unwrap().unwrap();
        skill_events::open_gate(&last);
    }
}

#[tokio::test]
async fn a_thread_outlives_the_timeout_of_its_call() {
    let server = serve_blocking_skill(|limits| limits.skill_concurrency = 1).await;
    let mut client = server.connect().await;
    let mut events = SkillEvents::of_call("left-over-time");
    let body = json!({"invocationId": "left-over-time", "inputs": {}}).to_string();
    let answer = client.post(DEAF, &body).await;
    assert_eq!(rejection(&answer, 503), ("timeout".to_owned(), true));
    let answer = client.post(DEAF, &body).await;
    assert_eq!(rejection(&answer, 429), ("overloaded".to_owned(), true));
    events.started().await;
    skill_events::open_gate("left-over-time");
    events.ended().await;
}

/// The headers of a call with a chunked body.
fn chunked() -> String {
    format!("POST {ACT} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
}

/// Each string as one chunk, which the server receives as a separate part.
fn chunks(parts: &[&str]) -> String {
    let chunk = |part: &&str| format!("{:x}\r\n{part}\r\n", part.len());
    parts.iter().map(chunk).collect()
}

#[tokio::test]
async fn partial_bodies_share_a_memory_limit() {
    let server = serve(|limits| limits.max_body_memory = 1000).await;
    // A body that exceeds the limit alone. A body that arrives in one part takes none of this memory.
    let large = action(&"a".repeat(2980));
    let (start, rest) = large.split_at(1500);
    let mut client = server.connect().await;
    client.send(chunked() + &chunks(&[start])).await;
    client.send(chunks(&[rest])).await;
    assert_eq!(
        rejection(&client.receive().await, 503),
        ("overloaded".to_owned(), true)
    );
    let mut client = server.connect().await;
    client.send(chunked() + &chunks(&[&large]) + "0\r\n\r\n").await;
    assert_eq!(client.receive().await.status, 200);

    // Two bodies that fit only one at a time. The memory of a body is released when it is complete, rejected, or its
    // client disconnects.
    let body = action(&"a".repeat(580));
    let parts = [&body[..300], &body[300..500], &body[500..]];
    for leaves in [false, true] {
        let mut first = server.connect().await;
        first.send(chunked() + &chunks(&parts[..2])).await;
        let one_more = async || {
            let mut second = server.connect().await;
            second.send(chunked() + &chunks(&parts)).await;
            second.send_what_fits("0\r\n\r\n").await;
            second.receive().await
        };
        // Until the server has read the parts of the first body, which the client cannot observe.
        until("there is no room", async || {
            let answer = one_more().await;
            let is_refused = answer.status != 200;
            if is_refused {
                assert_eq!(rejection(&answer, 503), ("overloaded".to_owned(), true));
            }
            is_refused
        })
        .await;
        if leaves {
            drop(first);
        } else {
            first.send(chunks(&parts[2..]) + "0\r\n\r\n").await;
            assert_eq!(first.receive().await.status, 200);
        }
        until("there is room again", async || one_more().await.status == 200).await;
    }
}

#[tokio::test]
async fn timeouts_beyond_the_clock_never_expire() {
    let mut options = ServeOptions::default();
    options.drain = Duration::MAX;
    let http = limited(|limits| {
        limits.header_read_timeout = Duration::MAX;
        limits.body_read_timeout = Duration::MAX;
        limits.idle_timeout = Duration::MAX;
        limits.write_timeout = Duration::MAX;
    });
    let server = Server::start(http, options).await;
    let mut client = Client::connect_with_small_window(server.address).await;
    // The first response fits into the send buffer; the second one must wait until the client reads.
    for length in [1, 1_000_000] {
        let body = action(&"a".repeat(length));
        assert_eq!(client.post(ACT, &body).await.status, 200);
    }
    server.stop().await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_body_read_timeout_applies() {
    let server = serve(|_| {}).await;
    let mut client = server.connect().await;
    client
        .send(format!(
            "POST {ACT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{{"
        ))
        .await;
    let began = Instant::now();
    let answer = client.receive().await;
    assert_eq!(rejection(&answer, 408), ("request_timeout".to_owned(), false));
    assert_eq!(began.elapsed().as_secs(), 30);
    client.closed().await;
}

#[tokio::test(start_paused = true)]
async fn the_idle_timeout_applies() {
    let server = serve(|limits| limits.idle_timeout = Duration::from_secs(20)).await;
    let mut client = server.connect().await;
    assert_eq!(client.get("GET", "/healthz").await.status, 200);
    let began = Instant::now();
    assert!(client.closed().await.is_empty());
    let waited = began.elapsed().as_secs();
    assert!((20..=40).contains(&waited), "closed after {waited} seconds");
}

#[tokio::test(start_paused = true)]
async fn the_header_read_timeout_applies() {
    let server = serve(|_| {}).await;
    let mut client = server.connect().await;
    assert_eq!(client.get("GET", "/healthz").await.status, 200);
    // The timeout starts with the first byte and is not extended by later ones.
    let began = Instant::now();
    client
        .send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ")
        .await;
    for _ in 0..9 {
        sleep(Duration::from_secs(1)).await;
        client.send("y").await;
    }
    client.closed().await;
    assert!((10..=11).contains(&began.elapsed().as_secs()));
}

#[tokio::test(start_paused = true)]
async fn the_idle_timeout_does_not_limit_calls() {
    let server = serve(|limits| {
        limits.idle_timeout = Duration::from_secs(1);
        limits.header_read_timeout = Duration::from_secs(1);
        limits.write_timeout = Duration::from_secs(1);
    })
    .await;
    // The timeout of the contract is 5 s.
    let answer = server.connect().await.post(ACT, &action("hang")).await;
    assert_eq!(rejection(&answer, 503), ("timeout".to_owned(), true));
}

#[tokio::test(start_paused = true)]
async fn the_write_timeout_applies() {
    let server = serve(|limits| limits.max_body_bytes = 64 * 1024 * 1024).await;
    let mut client = Client::connect_with_small_window(server.address).await;
    let body = action(&"a".repeat(24 * 1024 * 1024));
    client.send(request("POST", ACT, &[], &body)).await;
    // Wait for the start of the response, then for longer than the write timeout. The timeout restarts as long as the
    // system still accepts a little more of the response.
    client.receive_bytes(100).await;
    sleep(Duration::from_secs(4 * 31)).await;
    // Bytes in flight arrive in real time; a paused clock would jump ahead instead of waiting for them.
    tokio::time::resume();
    let rest = client.closed().await.len();
    assert!(rest < body.len(), "{rest} bytes came");
    assert_eq!(server.connect().await.get("GET", "/healthz").await.status, 200);
}

#[tokio::test]
async fn connections_over_the_limit_are_rejected() {
    let server = serve(|limits| limits.max_connections = 2).await;
    let (mut one, mut other) = (server.connect().await, server.connect().await);
    for client in [&mut one, &mut other] {
        assert_eq!(client.post(ACT, &action("a")).await.status, 200);
    }
    let mut third = server.connect().await;
    let answer = third.post(ACT, &action("a")).await;
    assert_eq!(rejection(&answer, 503), ("overloaded".to_owned(), true));
    assert_eq!(
        (answer.header("retry-after"), answer.header("connection")),
        ("1", "close")
    );
    assert!(third.closed().await.is_empty());
    // Probes still work. Otherwise an orchestrator would kill a server because it is busy.
    for target in ["/healthz", "/readyz", "/metrics"] {
        let mut probe = server.connect().await;
        let answer = probe.get("GET", target).await;
        assert_eq!(
            (answer.status, answer.header("connection")),
            (200, "close"),
            "{target}"
        );
        probe.closed().await;
    }
    // Connections within the limit keep working.
    assert_eq!(one.post(ACT, &action("a")).await.status, 200);
    assert_ne!(metric(&server, "skill_sdk_connections_refused_total").await, "0");
    drop((one, other));
    until("a connection is free again", async || {
        server.connect().await.post(ACT, &action("a")).await.status == 200
    })
    .await;
}

#[tokio::test]
async fn connections_far_over_the_limit_are_closed() {
    let server = serve(|limits| limits.max_connections = 1).await;
    let mut all = Vec::new();
    for _ in 0..66 {
        all.push(server.connect().await);
    }
    let last = all.last_mut().unwrap();
    assert!(last.closed().await.is_empty());
}

/// A frame of HTTP/2.
pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// `GET /healthz` in HPACK.
const GET: &[u8] = b"\x82\x86\x04\x08/healthz\x41\x01a";

pub(super) async fn http_2(server: &Server) -> Client {
    let mut client = server.connect().await;
    client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    client.send(frame(4, 0, 0, &[])).await;
    client
}

#[tokio::test]
async fn a_flood_of_resets_closes_only_its_connection() {
    let server = serve(|_| {}).await;
    let mut client = http_2(&server).await;
    let mut flood = Vec::new();
    for stream in (1..2000).step_by(2) {
        flood.extend(frame(1, 5, stream, GET));
        flood.extend(frame(3, 0, stream, &8_u32.to_be_bytes()));
    }
    client.send_what_fits(flood).await;
    client.closed().await;
    assert_eq!(server.connect().await.get("GET", "/healthz").await.status, 200);
}

/// The next frame of the server: its type, its stream and its payload.
async fn next_frame(client: &mut Client) -> (u8, u32, Vec<u8>) {
    let head = client.receive_bytes(9).await;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let stream = u32::from_be_bytes(head[5..9].try_into().unwrap());
    let payload = client.receive_bytes(usize::try_from(length).unwrap()).await;
    (head[3], stream, payload)
}

#[tokio::test]
async fn http2_headers_have_the_same_limit() {
    let server = serve(|_| {}).await;
    for (count, is_answered) in [(1, true), (2, false)] {
        let mut client = http_2(&server).await;
        // A header of 60,000 bytes in several frames.
        let mut block = GET.to_vec();
        for _ in 0..count {
            block.extend(b"\x40\x01x\x7f\xe1\xd3\x03");
            block.extend(std::iter::repeat_n(b'y', 60_000));
        }
        let mut parts = block.chunks(16_384);
        let mut frames = frame(1, 1, 1, parts.next().unwrap());
        let rest: Vec<_> = parts.collect();
        for (index, part) in rest.iter().enumerate() {
            let last = index + 1 == rest.len();
            frames.extend(frame(9, if last { 4 } else { 0 }, 1, part));
        }
        client.send_what_fits(frames).await;
        let answered = loop {
            match next_frame(&mut client).await {
                (1, 1, headers) if headers.first() == Some(&0x88) => break true,
                // Status 431, plain or Huffman-coded.
                (1, 1, headers) => {
                    let refused = [&b"\x48\x03431"[..], b"\x48\x83\x69\x90\x7f"];
                    assert!(
                        refused.iter().any(|start| headers.starts_with(start)),
                        "{headers:x?}"
                    );
                    break false;
                }
                // The server resets the stream or closes the connection.
                (3, 1, _) | (7, 0, _) => break false,
                (kind, stream, _) => assert_eq!(stream, 0, "{kind}"),
            }
        };
        assert_eq!(answered, is_answered, "{count}");
    }
    assert_eq!(server.connect().await.get("GET", "/healthz").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn an_idle_http2_connection_is_closed() {
    let server = serve(|_| {}).await;
    let mut client = http_2(&server).await;
    let began = Instant::now();
    client.closed().await;
    let waited = began.elapsed().as_secs();
    assert!((1..=60).contains(&waited), "closed after {waited} seconds");
}
