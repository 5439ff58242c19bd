//! Signals, with calls in flight.

use std::net::SocketAddr;

use serde_json::json;
use skill_sdk_tests::program::Program;
use skill_sdk_tests::wire::{Client, request};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinSet, spawn_blocking};

use super::{HEAR, refused, serve};

/// How many calls are in flight.
const MANY: usize = 100;

const WAIT: &str = "/skills/process.wait@1";

/// Calls that run, each with the connection that its skill holds.
struct Flight {
    callers: Vec<Client>,
    held: Vec<TcpStream>,
}

impl Flight {
    async fn of(program: &Program, count: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let body = json!({"inputs": {"address": address}}).to_string();
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
    while Client::connect(address).await.get("GET", "/readyz").await.status == 200 {}
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
