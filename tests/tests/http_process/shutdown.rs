//! Graceful shutdown by signals, with calls in flight.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::json;
use skill_sdk_tests::http2::Http2;
use skill_sdk_tests::program::Program;
use skill_sdk_tests::raw_http::{Client, request, until};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::{HEAR, rejection, serve};

/// The number of calls in flight.
const MANY: usize = 100;

const WAIT: &str = "/skills/process.wait@1";
const SPIN: &str = "/skills/process.spin@1";

/// Running calls, each with the connection that its skill holds.
struct RunningCalls {
    callers: Vec<Client>,
    held: Vec<TcpStream>,
}

impl RunningCalls {
    async fn start(program: &Program, count: usize) -> Self {
        Self::with_spaces(program, count, "").await
    }

    /// Calls with these spaces in their inputs.
    async fn with_spaces(program: &Program, count: usize, spaces: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let body = format!(r#"{{"inputs": {{{spaces}"address": "{address}"}}}}"#);
        let (mut callers, mut held) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let mut caller = Client::connect(program.address).await;
            caller.send(request("POST", WAIT, &[], &body)).await;
            callers.push(caller);
        }
        for _ in 0..count {
            held.push(listener.accept().await.unwrap().0);
        }
        Self { callers, held }
    }
}

/// Polls until the server reports that it is shutting down.
async fn wait_until_stopping(address: SocketAddr) {
    until("it stops", async || {
        Client::connect(address).await.get("GET", "/readyz").await.status != 200
    })
    .await;
}

/// Calls repeatedly on one connection until a call is rejected. Returns the number of successful calls.
async fn call_until_rejected(mut client: Client) -> usize {
    let body = json!({"inputs": {"text": "a", "ending": "good"}}).to_string();
    for answered in 0.. {
        let answer = client.post(HEAR, &body).await;
        if answer.status == 200 {
            assert!(answer.body.starts_with(r#"{"turned":"a""#), "{answer:?}");
            if answer.header("connection") == "close" {
                return answered + 1;
            }
            continue;
        }
        assert_eq!(rejection(&answer), (503, "overloaded".to_owned(), true));
        assert_eq!(answer.header("connection"), "close");
        return answered;
    }
    unreachable!("the last call is rejected")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_calls_in_flight_finish() {
    let program = serve(&[], &[("TEST_SECRET", "s")]);
    let address = program.address;
    let RunningCalls { callers, held } = RunningCalls::start(&program, MANY).await;
    let mut busy = JoinSet::new();
    for _ in 0..8 {
        let client = Client::connect(address).await;
        busy.spawn(call_until_rejected(client));
    }
    let mut idle = Client::connect(address).await;
    assert_eq!(idle.get("GET", "/healthz").await.status, 200);

    program.signal("TERM");
    wait_until_stopping(address).await;
    // New calls are rejected, on open connections and on new ones.
    assert_eq!(call_until_rejected(idle).await, 0);
    for _ in 0..MANY {
        assert_eq!(call_until_rejected(Client::connect(address).await).await, 0);
    }
    busy.join_all().await;

    drop(held);
    for mut caller in callers {
        let answer = caller.receive().await;
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"result":"waited"}"#)
        );
        assert_eq!(answer.header("connection"), "close");
        assert!(caller.closed().await.is_empty());
    }
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(ended.stdout, format!("listening on http://{address}\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_calls_in_flight_finish() {
    let flags = ["--concurrency", "1000", "--skill-concurrency", "1000"];
    let program = serve(&flags, &[("TEST_SECRET", "s")]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let body = json!({"inputs": {"address": listener.local_addr().unwrap().to_string()}}).to_string();
    let (mut clients, mut sent) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        let mut client = Http2::connect(program.address).await;
        for _ in 0..100 {
            sent.push(
                client
                    .send("POST", "/skills/process.gather@1", &body)
                    .await
                    .unwrap(),
            );
        }
        clients.push(client);
    }
    let held = listener.accept().await.unwrap();
    let mut probe = Client::connect(program.address).await;
    until("a thousand calls run", async || {
        let metrics = probe.get("GET", "/metrics").await.body;
        metrics.contains("skill_sdk_calls_in_flight{skill=\"process.gather@1\"} 1000\n")
    })
    .await;
    program.signal("TERM");
    wait_until_stopping(program.address).await;
    drop(held);
    for sent in sent {
        let answer = sent.response().await.unwrap();
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"result":"gathered"}"#)
        );
    }
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

/// A waiting call keeps only its deserialized inputs. The body and the JSON text of the inputs are freed.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_calls_release_their_bodies() {
    let program = serve(&[], &[]);
    let (calls, spaces) = (20, " ".repeat(2_000_000));
    // The allocators of the threads keep some memory of earlier bodies, so let them handle some before the measurement.
    let before = {
        let flight = RunningCalls::with_spaces(&program, 4, &spaces).await;
        drop(flight.held);
        for mut caller in flight.callers {
            assert_eq!(caller.receive().await.status, 200);
        }
        program.memory()
    };
    // One after the other, so that only waiting calls use memory.
    let mut flights = Vec::new();
    for _ in 0..calls {
        flights.push(RunningCalls::with_spaces(&program, 1, &spaces).await);
    }
    let grown = program.memory().saturating_sub(before) / 1_000_000;
    assert!(grown < 20, "{calls} calls with bodies of 2 MB keep {grown} MB");
    for flight in flights {
        drop(flight.held);
        for mut caller in flight.callers {
            assert_eq!(caller.receive().await.status, 200);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_over_the_drain_timeout_get_a_response() {
    let program = serve(&["--drain-seconds", "1"], &[]);
    let RunningCalls { callers, held } = RunningCalls::start(&program, MANY).await;
    program.signal("INT");
    for mut caller in callers {
        let answer = caller.receive().await;
        assert_eq!(rejection(&answer), (503, "overloaded".to_owned(), true));
        assert_eq!(answer.header("connection"), "close");
    }
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(ended.status.success(), "{ended:?}");
    drop(held);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_management_port_responds_while_all_workers_are_blocked() {
    let program = serve(&["--ops-addr", "127.0.0.1:0"], &[("TOKIO_WORKER_THREADS", "2")]);
    let mut probe = Client::connect(program.ops.unwrap()).await;
    let mut callers = Vec::new();
    // A worker may keep a further connection behind its blocked call, so more than one call per worker may be needed.
    for _ in 0..16 {
        let mut caller = Client::connect(program.address).await;
        caller.send(request("POST", SPIN, &[], r#"{"inputs":{}}"#)).await;
        callers.push(caller);
    }
    let blocked = async {
        loop {
            let ready = probe.get("GET", "/readyz").await.json();
            if ready["error"]["details"]["reasons"][0]["code"] == "busy" {
                return;
            }
        }
    };
    timeout(Duration::from_mins(1), blocked)
        .await
        .expect("all workers are blocked");
    assert_eq!(probe.get("GET", "/healthz").await.status, 200);
    let metrics = probe.get("GET", "/metrics").await.body;
    assert!(
        metrics.contains("skill_sdk_calls_in_flight{skill=\"process.spin@1\"} "),
        "{metrics}"
    );
    // Two signals of the same kind may be delivered as one.
    program.signal("TERM");
    program.signal("INT");
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(matches!(ended.status.code(), Some(130 | 143)), "{ended:?}");
}

#[test]
fn an_idle_server_stops_without_cancelling_calls() {
    let program = serve(&["--drain-seconds", "0"], &[]);
    program.signal("TERM");
    let ended = program.ended();
    assert!(ended.status.success(), "{ended:?}");
    assert!(!ended.stderr.contains("given up"), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_stops_at_once() {
    for (first, second, code) in [("TERM", "TERM", 143), ("TERM", "INT", 130)] {
        let program = serve(&[], &[]);
        let RunningCalls { mut callers, held } = RunningCalls::start(&program, 3).await;
        program.signal(first);
        wait_until_stopping(program.address).await;
        program.signal(second);
        let ended = spawn_blocking(|| program.ended()).await.unwrap();
        assert_eq!(ended.status.code(), Some(code), "{ended:?}");
        for caller in &mut callers {
            assert!(caller.closed().await.is_empty());
        }
        drop(held);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_stops_a_server_whose_threads_are_blocked() {
    let program = serve(&[], &[]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let body = json!({"inputs": {"address": listener.local_addr().unwrap().to_string()}}).to_string();
    let mut caller = Client::connect(program.address).await;
    caller
        .send(request("POST", "/skills/process.swamp@1", &[], &body))
        .await;
    let _held = listener.accept().await.unwrap();
    // Two signals of the same kind may be delivered as one.
    program.signal("TERM");
    program.signal("INT");
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(matches!(ended.status.code(), Some(130 | 143)), "{ended:?}");
}

/// Calls repeatedly over HTTP/2 until the server closes the connection gracefully, which loses no call.
async fn call_until_go_away(mut client: Http2) -> usize {
    let body = json!({"inputs": {"text": "a", "ending": "good"}}).to_string();
    let mut answered = 0;
    loop {
        match client.ask("POST", HEAR, &body).await {
            Ok(answer) if answer.status == 200 => {
                assert!(answer.body.starts_with(r#"{"turned":"a""#), "{answer:?}");
                answered += 1;
            }
            Ok(answer) => assert_eq!(rejection(&answer), (503, "overloaded".to_owned(), true)),
            Err(error) => {
                // The server did not start this call, so it is safe to retry elsewhere.
                assert!(error.is_go_away(), "{error}");
                assert_eq!(error.reason(), Some(h2::Reason::NO_ERROR), "{error}");
                client.closed().await.unwrap();
                return answered;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_http2_calls_in_flight_finish() {
    let program = serve(&[], &[("TEST_SECRET", "s")]);
    let address = program.address;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let test = listener.local_addr().unwrap().to_string();
    let body = json!({"inputs": {"address": test}}).to_string();
    let (mut connections, mut calls, mut held) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..4 {
        let mut client = Http2::connect(address).await;
        for _ in 0..MANY / 4 {
            calls.push(client.send("POST", WAIT, &body).await.unwrap());
        }
        connections.push(client);
    }
    for _ in 0..MANY {
        held.push(listener.accept().await.unwrap().0);
    }
    let mut busy = JoinSet::new();
    for _ in 0..4 {
        busy.spawn(call_until_go_away(Http2::connect(address).await));
    }
    let mut idle = Http2::connect(address).await;
    assert_eq!(idle.ask("GET", "/healthz", "").await.unwrap().status, 200);

    program.signal("TERM");
    wait_until_stopping(address).await;
    idle.closed().await.unwrap();
    busy.join_all().await;
    // A new connection gets a rejection and is closed. Connections with running calls accept no other call.
    for mut client in [Http2::connect(address).await, Http2::connect(address).await] {
        let answer = client.ask("POST", WAIT, &body).await.unwrap();
        assert_eq!(rejection(&answer), (503, "overloaded".to_owned(), true));
        client.closed().await.unwrap();
    }
    for client in &mut connections {
        // A call may be sent before the GOAWAY frame arrives.
        while let Ok(answer) = client.ask("POST", WAIT, &body).await {
            assert_eq!(rejection(&answer), (503, "overloaded".to_owned(), true));
        }
        let error = client.ask("POST", WAIT, &body).await.unwrap_err();
        assert!(error.is_go_away(), "{error}");
    }

    drop(held);
    for call in calls {
        let answer = call.response().await.unwrap();
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"result":"waited"}"#)
        );
    }
    for mut client in connections {
        client.closed().await.unwrap();
    }
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(ended.status.success(), "{ended:?}");
}
