//! What a host takes, and what it says beyond that.

use std::time::Duration;

use serde_json::json;
use skill_sdk::http::{HttpServer, Limits, ServeOptions};
use skill_sdk_tests::signs::{self, Signs};
use skill_sdk_tests::wire::{Client, Server, anonymous, request, until};
use tokio::time::{Instant, sleep};

use super::{act, deaf, refused, unclassified};

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

/// A line of the metrics of a server.
async fn metric(server: &Server, name: &str) -> String {
    let text = server.connect().await.get("GET", "/metrics").await.body;
    let line = text.lines().find(|line| line.split(' ').next() == Some(name));
    let value = line.and_then(|line| line.split(' ').nth(1));
    value.unwrap_or_else(|| panic!("no {name} in {text}")).to_owned()
}

#[tokio::test]
async fn one_skill_at_its_limit_leaves_the_others_alone() {
    let server = serve(|limits| {
        limits.skills.insert("http.act".into(), 1);
    })
    .await;
    let mut signs = Signs::of_call("skill-limit");
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    let body = json!({"invocationId": "skill-limit", "inputs": {"action": "wait"}}).to_string();
    first.send(request("POST", ACT, &[], &body)).await;
    signs.started().await;
    assert_eq!(
        metric(&server, "skill_sdk_calls_in_flight{skill=\"http.act@1\"}").await,
        "1"
    );
    let answer = second.post(ACT, &action("a")).await;
    assert_eq!(refused(&answer, 429), ("overloaded".to_owned(), true));
    assert_eq!(answer.header("retry-after"), "1");
    let other = second
        .post("/skills/http.unclassified@1", r#"{"inputs":{}}"#)
        .await;
    assert_eq!(refused(&other, 500).0, "skill_error");
    signs::open_gate("skill-limit");
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
async fn an_async_fn_that_blocks_its_thread_is_counted() {
    let server = Server::start(anonymous(&[act::SKILL]), ServeOptions::default()).await;
    let slow = "skill_sdk_slow_polls_total{skill=\"http.act@1\"}";
    assert_eq!(metric(&server, slow).await, "0");
    let mut client = server.connect().await;
    assert_eq!(client.post(ACT, &action("stall")).await.status, 200);
    assert_eq!(client.post(ACT, &action("a")).await.status, 200);
    assert_eq!(metric(&server, slow).await, "1");
}

/// A host of a skill that keeps its thread, and of others.
async fn serve_deaf(change: impl FnOnce(&mut Limits)) -> Server {
    let mut limits = Limits::default();
    change(&mut limits);
    let http = anonymous(&[act::SKILL, deaf::SKILL, unclassified::SKILL]).limits(limits);
    Server::start(http, ServeOptions::default()).await
}

/// Leaves a thread behind: the caller goes away, and the skill does not hear of it.
async fn leave_behind(server: &Server, invocation: &str) -> Signs {
    let mut signs = Signs::of_call(invocation);
    let mut client = server.connect().await;
    let body = json!({"invocationId": invocation, "inputs": {}}).to_string();
    client.send(request("POST", DEAF, &[], &body)).await;
    let context = signs.started().await;
    drop(client);
    context.cancelled().await;
    let in_flight = "skill_sdk_calls_in_flight{skill=\"http.deaf@1\"}";
    until("the call is over", async || {
        metric(server, in_flight).await == "0"
    })
    .await;
    signs
}

#[tokio::test]
async fn a_thread_that_goes_on_after_its_call_keeps_the_place() {
    // Of the skill, with room for others, and of the host.
    for (status, invocation) in [(429, "left-in-skill"), (503, "left-in-host")] {
        let server = serve_deaf(|limits| match status {
            429 => drop(limits.skills.insert("http.deaf".into(), 1)),
            _ => limits.concurrency = 1,
        })
        .await;
        let mut signs = leave_behind(&server, invocation).await;
        let left = "skill_sdk_calls_abandoned{skill=\"http.deaf@1\"}";
        assert_eq!(metric(&server, left).await, "1");
        let mut client = server.connect().await;
        for _ in 0..20 {
            let answer = client.post(DEAF, r#"{"inputs":{}}"#).await;
            assert_eq!(refused(&answer, status), ("overloaded".to_owned(), true));
        }
        let other = client.post(ACT, &action("a")).await;
        assert_eq!(other.status, if status == 429 { 200 } else { 503 });
        signs::open_gate(invocation);
        signs.ended().await;
        until("the thread is over", async || metric(&server, left).await == "0").await;
        assert_eq!(client.post(ACT, &action("a")).await.status, 200);
        // A host that stops does not wait for a thread that nobody can end.
        let last = format!("{invocation}-2");
        leave_behind(&server, &last).await;
        server.stop().await.unwrap().unwrap();
        signs::open_gate(&last);
    }
}

#[tokio::test]
async fn a_thread_goes_on_after_the_time_of_its_call() {
    let server = serve_deaf(|limits| limits.skill_concurrency = 1).await;
    let mut client = server.connect().await;
    let mut signs = Signs::of_call("left-over-time");
    let body = json!({"invocationId": "left-over-time", "inputs": {}}).to_string();
    let answer = client.post(DEAF, &body).await;
    assert_eq!(refused(&answer, 503), ("timeout".to_owned(), true));
    let answer = client.post(DEAF, &body).await;
    assert_eq!(refused(&answer, 429), ("overloaded".to_owned(), true));
    signs.started().await;
    signs::open_gate("left-over-time");
    signs.ended().await;
}

/// The head of a call whose body comes in chunks.
fn chunked() -> String {
    format!("POST {ACT} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
}

/// Each of these texts as a chunk, which the host takes as a part of its own.
fn chunks(parts: &[&str]) -> String {
    let chunk = |part: &&str| format!("{:x}\r\n{part}\r\n", part.len());
    parts.iter().map(chunk).collect()
}

#[tokio::test]
async fn bodies_in_parts_share_a_memory() {
    let server = serve(|limits| limits.max_body_memory = 1000).await;
    // A body that alone is too much for it. It takes none as long as it is one part.
    let large = action(&"a".repeat(2980));
    let (start, rest) = large.split_at(1500);
    let mut client = server.connect().await;
    client.send(chunked() + &chunks(&[start])).await;
    client.send(chunks(&[rest])).await;
    assert_eq!(
        refused(&client.receive().await, 503),
        ("overloaded".to_owned(), true)
    );
    let mut client = server.connect().await;
    client.send(chunked() + &chunks(&[&large]) + "0\r\n\r\n").await;
    assert_eq!(client.receive().await.status, 200);

    // Two that fit one by one. All that one had is given back when it is whole, refused, or its client went away.
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
        // Once the parts of the first were taken, which nobody tells.
        until("there is no room", async || {
            let answer = one_more().await;
            let is_refused = answer.status != 200;
            if is_refused {
                assert_eq!(refused(&answer, 503), ("overloaded".to_owned(), true));
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
async fn times_that_no_clock_holds_are_for_ever() {
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
    // One answer finds room, and one has to wait for it.
    for length in [1, 1_000_000] {
        let body = action(&"a".repeat(length));
        assert_eq!(client.post(ACT, &body).await.status, 200);
    }
    server.stop().await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let server = serve(|_| {}).await;
    let mut client = server.connect().await;
    client
        .send(format!(
            "POST {ACT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{{"
        ))
        .await;
    let began = Instant::now();
    let answer = client.receive().await;
    assert_eq!(refused(&answer, 408), ("request_timeout".to_owned(), false));
    assert_eq!(began.elapsed().as_secs(), 30);
    client.closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_request_is_closed_in_time() {
    let server = serve(|limits| limits.idle_timeout = Duration::from_secs(20)).await;
    let mut client = server.connect().await;
    assert_eq!(client.get("GET", "/healthz").await.status, 200);
    let began = Instant::now();
    assert!(client.closed().await.is_empty());
    let waited = began.elapsed().as_secs();
    assert!((20..=40).contains(&waited), "closed after {waited} seconds");
}

#[tokio::test(start_paused = true)]
async fn a_head_that_comes_in_drops_is_cut() {
    let server = serve(|_| {}).await;
    let mut client = server.connect().await;
    assert_eq!(client.get("GET", "/healthz").await.status, 200);
    // It has its time from its first byte, whatever comes after.
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
async fn a_call_may_take_longer_than_an_idle_connection() {
    let server = serve(|limits| {
        limits.idle_timeout = Duration::from_secs(1);
        limits.header_read_timeout = Duration::from_secs(1);
        limits.write_timeout = Duration::from_secs(1);
    })
    .await;
    // The contract's time is 5 seconds.
    let answer = server.connect().await.post(ACT, &action("hang")).await;
    assert_eq!(refused(&answer, 503), ("timeout".to_owned(), true));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_takes_is_given_up() {
    let server = serve(|limits| limits.max_body_bytes = 64 * 1024 * 1024).await;
    let mut client = Client::connect_with_small_window(server.address).await;
    let body = action(&"a".repeat(24 * 1024 * 1024));
    client.send(request("POST", ACT, &[], &body)).await;
    // Until the answer begins, then past the time, which begins anew when the system takes a little more of the answer in
    // its first moments.
    client.receive_bytes(100).await;
    sleep(Duration::from_secs(4 * 31)).await;
    // What is on its way comes in real time; a clock that jumps whenever nothing is there yet would not wait for it.
    tokio::time::resume();
    let rest = client.closed().await.len();
    assert!(rest < body.len(), "{rest} bytes came");
    assert_eq!(server.connect().await.get("GET", "/healthz").await.status, 200);
}

#[tokio::test]
async fn connections_over_the_limit_are_told_so() {
    let server = serve(|limits| limits.max_connections = 2).await;
    let (mut one, mut other) = (server.connect().await, server.connect().await);
    for client in [&mut one, &mut other] {
        assert_eq!(client.post(ACT, &action("a")).await.status, 200);
    }
    let mut third = server.connect().await;
    let answer = third.post(ACT, &action("a")).await;
    assert_eq!(refused(&answer, 503), ("overloaded".to_owned(), true));
    assert_eq!(
        (answer.header("retry-after"), answer.header("connection")),
        ("1", "close")
    );
    assert!(third.closed().await.is_empty());
    // Probes are answered all the same, else an orchestrator would end a host because it is busy.
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
    // Those within the limit go on.
    assert_eq!(one.post(ACT, &action("a")).await.status, 200);
    assert_ne!(metric(&server, "skill_sdk_connections_refused_total").await, "0");
    drop((one, other));
    until("there is room again", async || {
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

/// `GET /healthz`, as HPACK says it.
const GET: &[u8] = b"\x82\x86\x04\x08/healthz\x41\x01a";

pub(super) async fn http_2(server: &Server) -> Client {
    let mut client = server.connect().await;
    client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    client.send(frame(4, 0, 0, &[])).await;
    client
}

#[tokio::test]
async fn a_flood_of_resets_ends_its_connection_only() {
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

/// The next frame that a server sends: its kind, its stream, what it holds.
async fn next_frame(client: &mut Client) -> (u8, u32, Vec<u8>) {
    let head = client.receive_bytes(9).await;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let stream = u32::from_be_bytes(head[5..9].try_into().unwrap());
    let payload = client.receive_bytes(usize::try_from(length).unwrap()).await;
    (head[3], stream, payload)
}

#[tokio::test]
async fn headers_of_http_2_have_the_same_limit() {
    let server = serve(|_| {}).await;
    for (count, is_answered) in [(1, true), (2, false)] {
        let mut client = http_2(&server).await;
        // A header of 60 000 bytes so often, in more frames than one.
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
                // 431, plain or as Huffman has it.
                (1, 1, headers) => {
                    let refused = [&b"\x48\x03431"[..], b"\x48\x83\x69\x90\x7f"];
                    assert!(
                        refused.iter().any(|start| headers.starts_with(start)),
                        "{headers:x?}"
                    );
                    break false;
                }
                // The stream is reset, or the connection ends.
                (3, 1, _) | (7, 0, _) => break false,
                (kind, stream, _) => assert_eq!(stream, 0, "{kind}"),
            }
        };
        assert_eq!(answered, is_answered, "{count}");
    }
    assert_eq!(server.connect().await.get("GET", "/healthz").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn a_silent_connection_of_http_2_is_closed() {
    let server = serve(|_| {}).await;
    let mut client = http_2(&server).await;
    let began = Instant::now();
    client.closed().await;
    let waited = began.elapsed().as_secs();
    assert!((1..=60).contains(&waited), "closed after {waited} seconds");
}
