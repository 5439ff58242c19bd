//! What a host takes, and what it says beyond that.

use std::time::Duration;

use serde_json::json;
use skill_sdk::http::{HttpHost, Limits, ServeOptions};
use skill_sdk_tests::signs::Signs;
use skill_sdk_tests::wire::{Client, Server, anonymous, request};
use tokio::time::{Instant, sleep};

use super::{GATE, act, refused, unclassified};

const ACT: &str = "/skills/http.act@1";

fn limited(change: impl FnOnce(&mut Limits)) -> HttpHost {
    let mut limits = Limits::default();
    change(&mut limits);
    anonymous(&[act::SKILL, unclassified::SKILL]).limits(limits)
}

async fn serve(change: impl FnOnce(&mut Limits)) -> Server {
    Server::start(limited(change), ServeOptions::new("127.0.0.1", 0)).await
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
    GATE.add_permits(1);
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
async fn bodies_in_parts_share_a_memory() {
    let server = serve(|limits| limits.body_memory = 1000).await;
    let head = |length: usize| format!("POST {ACT} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n");
    let body = action(&"a".repeat(900));
    let (start, rest) = body.split_at(600);
    let (mut one, mut other) = (server.connect().await, server.connect().await);
    // One body fits …
    one.send(head(body.len()) + start).await;
    // … and two do not, whichever comes second.
    other.send(head(body.len()) + start).await;
    for client in [&mut one, &mut other] {
        tokio::task::yield_now().await;
        client.send(rest).await;
    }
    let statuses = [one.receive().await.status, other.receive().await.status];
    assert!(statuses.contains(&200) || statuses == [503, 503], "{statuses:?}");
    // All is given back.
    let mut client = server.connect().await;
    client.send(head(body.len()) + start).await;
    tokio::task::yield_now().await;
    client.send(rest).await;
    assert_eq!(client.receive().await.status, 200);
    // A body that alone is too much for the memory is refused, and one that comes whole takes none.
    let large = action(&"a".repeat(3000));
    let mut client = server.connect().await;
    let mut answer = None;
    for part in [head(large.len()).as_str(), &large[..1500], &large[1500..]] {
        client.send(part).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
    answer.get_or_insert(client.receive().await);
    let answer = answer.unwrap();
    if answer.status != 200 {
        assert_eq!(refused(&answer, 503), ("overloaded".to_owned(), true));
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let server = serve(|_| {}).await;
    let mut client = server.connect().await;
    client
        .send(format!(
            "POST {ACT} HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n{{"
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
    let server = serve(|limits| limits.idle_time = Duration::from_secs(20)).await;
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
    client.send("GET /healthz HTTP/1.1\r\nHost: a\r\nX: ").await;
    for _ in 0..9 {
        sleep(Duration::from_secs(1)).await;
        client.send("y").await;
    }
    client.closed().await;
    assert_eq!(began.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_call_may_take_longer_than_an_idle_connection() {
    let server = serve(|limits| {
        limits.idle_time = Duration::from_secs(1);
        limits.head_time = Duration::from_secs(1);
        limits.write_time = Duration::from_secs(1);
    })
    .await;
    // The contract's time is 5 seconds.
    let answer = server.connect().await.post(ACT, &action("hang")).await;
    assert_eq!(refused(&answer, 503), ("timeout".to_owned(), true));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_takes_is_given_up() {
    let server = serve(|limits| limits.body = 64 * 1024 * 1024).await;
    let mut client = Client::connect_with_small_window(server.address).await;
    let body = action(&"a".repeat(24 * 1024 * 1024));
    client.send(request("POST", ACT, &[], &body)).await;
    // Until the answer begins, then past the time.
    client.receive_bytes(100).await;
    sleep(Duration::from_secs(31)).await;
    let rest = client.closed().await.len();
    assert!(rest < body.len(), "{rest} bytes came");
    assert_eq!(server.connect().await.get("GET", "/healthz").await.status, 200);
}

#[tokio::test]
async fn connections_over_the_limit_are_told_so() {
    let server = serve(|limits| limits.connections = 2).await;
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
    while server.connect().await.post(ACT, &action("a")).await.status != 200 {}
}

#[tokio::test]
async fn connections_far_over_the_limit_are_closed() {
    let server = serve(|limits| limits.connections = 1).await;
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

#[tokio::test]
async fn headers_of_http_2_have_the_same_limit() {
    let server = serve(|_| {}).await;
    let mut client = http_2(&server).await;
    // A header of 60 000 bytes twice, and more frames than it takes.
    let mut block = GET.to_vec();
    for _ in 0..2 {
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
    // Either the stream is answered with 431 or reset, or the connection ends.
    client.receive_bytes(9).await;
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
