//! The memory of a server with stalled clients stays within the sum of the table in `docs/guides/deploying.md`.

use skill_sdk_tests::http2::Http2;
use skill_sdk_tests::raw_http::{Client, request, until};

use super::serve;

const MIB: usize = 1024 * 1024;

/// The size of a response that its client does not read.
const RESPONSE: usize = 4 * MIB;

/// The number of calls that run or wait for their responses to be read.
const CALLS: usize = 16;

/// The additional memory for many connections and requests, and what the allocators of the 4 threads keep of the
/// responses that they wrote.
const REST: usize = 24 * MIB + 4 * 2 * RESPONSE;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_clients_use_no_more_memory_than_documented() {
    let body_memory = 8 * MIB;
    let heads = 256 * 16 * 1024;
    let program = serve(
        &[
            "--concurrency",
            &CALLS.to_string(),
            "--body-memory",
            &body_memory.to_string(),
            "--connections",
            "256",
            "--head-limit",
            "16384",
        ],
        &[("TEST_SECRET", "s")],
    );
    let mut probe = Client::connect(program.address).await;
    assert_eq!(probe.get("GET", "/healthz").await.status, 200);
    let before = program.memory();

    // Requests with long headers whose response bodies are not read. None of them needs a token.
    let method = "A".repeat(2900);
    let (mut connections, mut bodies) = (Vec::new(), Vec::new());
    for _ in 0..16 {
        let mut client = Http2::connect_without_window(program.address).await;
        for _ in 0..100 {
            let (status, body) = client
                .send(&method, "/skills", "")
                .await
                .unwrap()
                .head()
                .await
                .unwrap();
            assert_eq!(status, 405);
            bodies.push(body);
        }
        connections.push(client);
    }
    // Responses that are not read.
    let mut clients = Vec::new();
    let inputs = format!(r#"{{"inputs": {{"bytes": {RESPONSE}}}}}"#);
    for _ in 0..120 {
        let mut client = Client::connect_with_small_window(program.address).await;
        client
            .send(request("POST", "/skills/process.big@1", &[], &inputs))
            .await;
        clients.push(client);
    }
    // Bodies that never end.
    let part = "x".repeat(MIB);
    for _ in 0..40 {
        let mut client = Client::connect(program.address).await;
        let head = "POST /skills/process.big@1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
                    Transfer-Encoding: chunked\r\n\r\n";
        client
            .send_what_fits(format!("{head}{MIB:x}\r\n{part}\r\n"))
            .await;
        clients.push(client);
    }
    until("requests over the limits are rejected", async || {
        let metrics = probe.get("GET", "/metrics").await.body;
        let rejected = metrics
            .lines()
            .find_map(|line| line.strip_prefix("skill_sdk_refusals_total{code=\"overloaded\"} "));
        rejected.is_some_and(|count| count.parse::<usize>().unwrap() >= 120)
    })
    .await;

    let grown = program.memory().saturating_sub(before);
    let table = body_memory + heads + CALLS * RESPONSE;
    assert!(
        grown <= table + REST,
        "the server has grown by {} MiB, and the table says {} MiB",
        grown / MIB,
        table / MIB
    );
    drop((connections, bodies, clients));
}
