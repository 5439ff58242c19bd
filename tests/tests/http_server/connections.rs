//! Connections: keep-alive, pipelining, disconnects and slow clients.

use std::sync::LazyLock;

use serde_json::json;
use skill_sdk::skill;
use skill_sdk_tests::raw_http::{Client, Server, request};
use skill_sdk_tests::skill_events::SkillEvents;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{act, block, rejection};

const ACT: &str = "/skills/http.act@1";

#[tokio::test]
async fn a_connection_is_kept_alive() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    for index in 0..20 {
        let answer = client
            .call(act::SKILL, &json!({"inputs": {"action": index.to_string()}}))
            .await;
        assert_eq!(answer.body, format!(r#"{{"result":"{index}"}}"#));
        // A rejected request does not close the connection.
        rejection(&client.get("GET", "/nope").await, 404);
        rejection(&client.post(ACT, "{").await, 400);
    }
    client
        .send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await;
    assert_eq!(client.receive().await.status, 200);
    assert!(client.closed().await.is_empty());
}

#[tokio::test]
async fn requests_can_be_pipelined() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    let call = |action: &str| {
        request(
            "POST",
            ACT,
            &[],
            &json!({"inputs": {"action": action}}).to_string(),
        )
    };
    let all = [call("1"), request("GET", "/nope", &[], ""), call("2"), call("3")].concat();
    client.send(all).await;
    for expected in [r#"{"result":"1"}"#, "", r#"{"result":"2"}"#, r#"{"result":"3"}"#] {
        let answer = client.receive().await;
        if expected.is_empty() {
            rejection(&answer, 404);
        } else {
            assert_eq!(answer.body, expected);
        }
    }
}

#[tokio::test]
async fn a_request_can_arrive_in_parts() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    let whole = request("POST", ACT, &[], r#"{"inputs":{"action":"pieces"}}"#);
    for byte in whole.as_bytes() {
        client.send([*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(client.receive().await.body, r#"{"result":"pieces"}"#);
    client
        .send(format!(
            "POST {ACT} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n\
             7\r\n{{\"input\r\n9\r\ns\":{{\"acti\r\nb\r\non\":\"abc\"}}}}\r\n0\r\n\r\n"
        ))
        .await;
    assert_eq!(client.receive().await.body, r#"{"result":"abc"}"#);
}

#[tokio::test]
async fn http2_works_on_the_same_port() {
    let server = Server::of(&[act::SKILL]).await;
    let mut client = server.connect().await;
    // The connection preface in two writes, and empty settings.
    client.send("PRI * HTTP/2.0\r\n\r\n").await;
    tokio::task::yield_now().await;
    client.send(b"SM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await;
    let head = client.receive_bytes(9).await;
    assert_eq!(
        head[3], 4,
        "the first frame of the server must contain its settings: {head:?}"
    );
}

#[tokio::test]
async fn a_disconnect_cancels_the_call() {
    let server = Server::of(&[act::SKILL, block::SKILL]).await;
    let mut events = SkillEvents::of_call("gone");
    let body = json!({"invocationId": "gone", "inputs": {"action": "hang"}}).to_string();
    let mut client = server.connect().await;
    client.send(request("POST", ACT, &[], &body)).await;
    let context = events.started().await;
    assert!(!context.is_cancelled());
    drop(client);
    events.dropped().await;
    context.cancelled().await;

    let mut events = SkillEvents::of_call("gone-sync");
    let body = json!({"invocationId": "gone-sync", "inputs": {}}).to_string();
    let mut client = server.connect().await;
    client
        .send(request("POST", "/skills/http.block@1", &[], &body))
        .await;
    events.started().await;
    drop(client);
    events.ended().await;
    assert_eq!(server.connect().await.get("GET", "/healthz").await.status, 200);
}

#[tokio::test]
async fn a_request_has_one_host() {
    let server = Server::of(&[act::SKILL]).await;
    for (sent, status) in [
        ("GET /openapi.json HTTP/1.1\r\n\r\n", 400),
        (
            "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
            400,
        ),
        ("GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n", 200),
    ] {
        let mut client = server.connect().await;
        client.send(sent).await;
        assert_eq!(client.receive().await.status, status, "{sent:?}");
    }
}

/// The number of calls that must run at the same time before any of them returns.
const MANY: usize = 64;

/// Returns once all calls are running.
#[skill("http.meet", version = "1", side_effects = "none", risk = "low")]
async fn meet(number: u32) -> u32 {
    static BARRIER: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(MANY));
    BARRIER.wait().await;
    number
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_run_concurrently() {
    let server = Server::of(&[meet::SKILL]).await;
    let mut calls = JoinSet::new();
    for number in 0..MANY {
        let address = server.address;
        calls.spawn(async move {
            let mut client = Client::connect(address).await;
            (
                number,
                client
                    .call(meet::SKILL, &json!({"inputs": {"number": number}}))
                    .await
                    .body,
            )
        });
    }
    for (number, body) in calls.join_all().await {
        assert_eq!(body, format!(r#"{{"result":{number}}}"#));
    }
}

/// The kernel timer of the server's end of a connection: its kind, and when it expires.
#[cfg(target_os = "linux")]
fn timer(server: std::net::SocketAddr, client: std::net::SocketAddr) -> Option<(String, u64)> {
    let end = |address: std::net::SocketAddr| format!("0100007F:{:04X}", address.port());
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let row = table.lines().find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let own = columns.next()? == end(server) && columns.next()? == end(client);
        own.then(|| columns.nth(2).map(str::to_owned)).flatten()
    })?;
    let (kind, ticks) = row.split_once(':')?;
    Some((kind.to_owned(), u64::from_str_radix(ticks, 16).ok()?))
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn tcp_keep_alive_is_enabled() {
    let server = Server::of(&[act::SKILL]).await;
    let mut events = SkillEvents::of_call("keepalive");
    let mut client = server.connect().await;
    let body = json!({"invocationId": "keepalive", "inputs": {"action": "hang"}}).to_string();
    client.send(request("POST", ACT, &[], &body)).await;
    events.started().await;
    let address = client.address();
    // Sent data that was just acknowledged may leave a timer for a moment.
    let keepalive = async {
        loop {
            match timer(server.address, address) {
                Some((kind, ticks)) if kind == "02" => return ticks,
                _ => tokio::task::yield_now().await,
            }
        }
    };
    let ticks = tokio::time::timeout(std::time::Duration::from_secs(4), keepalive).await;
    // The kernel counts 100 ticks per second; keep-alive probes start after 60 s.
    let ticks = ticks.expect("keepalive is on");
    assert!((5000..=6000).contains(&ticks), "{ticks}");
}

#[tokio::test(start_paused = true)]
async fn a_stalled_client_is_disconnected() {
    let server = Server::of(&[act::SKILL]).await;
    for said in [
        "",
        "P",
        "PRI * HTTP/2.0\r\n\r\n",
        "GET",
        "POST /skills/http.act@1 HTTP/1.1\r\nHost: localhost\r\nX",
    ] {
        let mut client = server.connect().await;
        client.send(said).await;
        let begin = tokio::time::Instant::now();
        client.closed().await;
        let waited = begin.elapsed().as_secs();
        assert!(
            (1..=30).contains(&waited),
            "{said:?} was cut after {waited} seconds"
        );
    }
    assert_eq!(server.connect().await.get("GET", "/healthz").await.status, 200);
}

#[tokio::test]
async fn invalid_http_is_rejected_and_other_clients_are_unaffected() {
    let server = Server::of(&[act::SKILL]).await;
    // hyper writes these responses, which have no body.
    let (bad, large) = (400, 431);
    for (said, expected) in [
        ("\x16\x03\x01\x02\0\x01\0\x01\u{fc}".to_owned(), bad),
        ("nonsense\r\n\r\n".to_owned(), bad),
        ("GET / HTTP/9.9\r\n\r\n".to_owned(), bad),
        (format!("GET /{} HTTP/1.1\r\n", "a".repeat(65_535)), large),
        (format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(500)), large),
        (
            format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(70_000)),
            large,
        ),
        (format!("POST {ACT} HTTP/1.1\r\nContent-Length: x\r\n\r\n"), bad),
        (
            format!("POST {ACT} HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
            bad,
        ),
        (
            format!("POST {ACT} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            bad,
        ),
    ] {
        let mut client = server.connect().await;
        client.send(&said).await;
        assert_eq!(client.receive().await.status, expected, "{said:?}");
        client.closed().await;
    }
    assert_eq!(server.connect().await.get("GET", "/healthz").await.status, 200);
}
