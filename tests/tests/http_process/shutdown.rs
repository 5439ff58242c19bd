//! Signals, with calls in flight.

use std::net::SocketAddr;

use serde_json::json;
use skill_sdk_tests::http2::Http2;
use skill_sdk_tests::program::Program;
use skill_sdk_tests::wire::{Client, request, until};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, spawn_blocking};

use super::{HEAR, refused, serve};

/// How many calls are in flight.
const MANY: usize = 100;

const WAIT: &str = "/skills/process.wait@1";
const SPIN: &str = "/skills/process.spin@1";

/// Calls that run, each with the connection that its skill holds.
struct Flight {
    callers: Vec<Client>,
    held: Vec<TcpStream>,
}

impl Flight {
    async fn of(program: &Program, count: usize) -> Self {
        Self::with_spaces(program, count, "").await
    }

    /// Calls whose bodies have these spaces in their inputs.
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

/// Asks until the program says that it is stopping.
async fn stopping(address: SocketAddr) {
    until("it stops", async || {
        Client::connect(address).await.get("GET", "/readyz").await.status != 200
    })
    .await;
}

/// Calls again and again on one connection until the answer is a refusal; gives how many calls were answered.
async fn calls_until_refused(mut client: Client) -> usize {
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
        assert_eq!(refused(&answer), (503, "overloaded".to_owned(), true));
        assert_eq!(answer.header("connection"), "close");
        return answered;
    }
    unreachable!("it ends with a refusal")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_calls_in_flight_are_answered() {
    let program = serve(&[], &[("TEST_SECRET", "s")]);
    let address = program.address;
    let Flight { callers, held } = Flight::of(&program, MANY).await;
    let mut busy = JoinSet::new();
    for _ in 0..8 {
        let client = Client::connect(address).await;
        busy.spawn(calls_until_refused(client));
    }
    let mut idle = Client::connect(address).await;
    assert_eq!(idle.get("GET", "/healthz").await.status, 200);

    program.signal("TERM");
    stopping(address).await;
    // Those that come now are told to go elsewhere: on connections that are open, and on new ones.
    assert_eq!(calls_until_refused(idle).await, 0);
    for _ in 0..MANY {
        assert_eq!(calls_until_refused(Client::connect(address).await).await, 0);
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
async fn a_thousand_calls_in_flight_are_answered() {
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
    stopping(program.address).await;
    drop(held);
    for sent in sent {
        let answer = sent.answer().await.unwrap();
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (200, r#"{"result":"gathered"}"#)
        );
    }
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(ended.status.success(), "{ended:?}");
}

/// A call that waits has its inputs as its types hold them. Its body, and the text of its inputs, are gone.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_wait_keep_no_bodies() {
    let program = serve(&[], &[]);
    let (calls, spaces) = (20, " ".repeat(2_000_000));
    // The threads have had bodies before, of which their allocator keeps some memory.
    let before = {
        let flight = Flight::with_spaces(&program, 4, &spaces).await;
        drop(flight.held);
        for mut caller in flight.callers {
            assert_eq!(caller.receive().await.status, 200);
        }
        program.memory()
    };
    // One after the other, so that none but those that wait take memory.
    let mut flights = Vec::new();
    for _ in 0..calls {
        flights.push(Flight::with_spaces(&program, 1, &spaces).await);
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
async fn calls_that_outlast_the_drain_get_an_answer_too() {
    let program = serve(&["--drain-seconds", "1"], &[]);
    let Flight { callers, held } = Flight::of(&program, MANY).await;
    program.signal("INT");
    for mut caller in callers {
        let answer = caller.receive().await;
        assert_eq!(refused(&answer), (503, "overloaded".to_owned(), true));
        assert_eq!(answer.header("connection"), "close");
    }
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(ended.status.success(), "{ended:?}");
    drop(held);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_management_port_answers_while_async_functions_block_all_workers() {
    let program = serve(&["--ops-addr", "127.0.0.1:0"], &[("TOKIO_WORKER_THREADS", "2")]);
    let mut callers = Vec::new();
    for _ in 0..2 {
        let mut caller = Client::connect(program.address).await;
        caller.send(request("POST", SPIN, &[], r#"{"inputs":{}}"#)).await;
        callers.push(caller);
    }
    let mut probe = Client::connect(program.ops.unwrap()).await;
    loop {
        let metrics = probe.get("GET", "/metrics").await.body;
        if metrics.contains("skill_sdk_calls_in_flight{skill=\"process.spin@1\"} 2") {
            break;
        }
    }
    assert_eq!(probe.get("GET", "/healthz").await.status, 200);
    let ready = probe.get("GET", "/readyz").await;
    assert_eq!(
        (
            ready.status,
            ready.json()["error"]["details"]["reasons"][0]["code"].as_str()
        ),
        (503, Some("busy"))
    );
    // Two of one kind might be heard as one.
    program.signal("TERM");
    program.signal("INT");
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(matches!(ended.status.code(), Some(130 | 143)), "{ended:?}");
}

#[test]
fn a_host_without_calls_gives_up_none() {
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
        let Flight { mut callers, held } = Flight::of(&program, 3).await;
        program.signal(first);
        stopping(program.address).await;
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
async fn a_second_signal_stops_a_host_without_a_thread() {
    let program = serve(&[], &[]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let body = json!({"inputs": {"address": listener.local_addr().unwrap().to_string()}}).to_string();
    let mut caller = Client::connect(program.address).await;
    caller
        .send(request("POST", "/skills/process.swamp@1", &[], &body))
        .await;
    let _held = listener.accept().await.unwrap();
    // Two of one kind might be heard as one.
    program.signal("TERM");
    program.signal("INT");
    let ended = spawn_blocking(|| program.ended()).await.unwrap();
    assert!(matches!(ended.status.code(), Some(130 | 143)), "{ended:?}");
}

/// Calls again and again over HTTP/2 until the server says that it takes no more, which loses no call.
async fn calls_until_told_to_go(mut client: Http2) -> usize {
    let body = json!({"inputs": {"text": "a", "ending": "good"}}).to_string();
    let mut answered = 0;
    loop {
        match client.ask("POST", HEAR, &body).await {
            Ok(answer) if answer.status == 200 => {
                assert!(answer.body.starts_with(r#"{"turned":"a""#), "{answer:?}");
                answered += 1;
            }
            Ok(answer) => assert_eq!(refused(&answer), (503, "overloaded".to_owned(), true)),
            Err(error) => {
                // A call that the server did not begin, which may be sent elsewhere.
                assert!(error.is_go_away(), "{error}");
                assert_eq!(error.reason(), Some(h2::Reason::NO_ERROR), "{error}");
                client.closed().await.unwrap();
                return answered;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_calls_in_flight_over_http_2_are_answered() {
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
        busy.spawn(calls_until_told_to_go(Http2::connect(address).await));
    }
    let mut idle = Http2::connect(address).await;
    assert_eq!(idle.ask("GET", "/healthz", "").await.unwrap().status, 200);

    program.signal("TERM");
    stopping(address).await;
    idle.closed().await.unwrap();
    busy.join_all().await;
    // A connection that comes now gets a refusal and its end; those with calls take no others.
    for mut client in [Http2::connect(address).await, Http2::connect(address).await] {
        let answer = client.ask("POST", WAIT, &body).await.unwrap();
        assert_eq!(refused(&answer), (503, "overloaded".to_owned(), true));
        client.closed().await.unwrap();
    }
    for client in &mut connections {
        // A call may cross the word that there is no room for it.
        while let Ok(answer) = client.ask("POST", WAIT, &body).await {
            assert_eq!(refused(&answer), (503, "overloaded".to_owned(), true));
        }
        let error = client.ask("POST", WAIT, &body).await.unwrap_err();
        assert!(error.is_go_away(), "{error}");
    }

    drop(held);
    for call in calls {
        let answer = call.answer().await.unwrap();
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
