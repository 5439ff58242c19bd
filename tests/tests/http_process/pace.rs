//! Asynchronous skills that keep their threads.

use std::time::{Duration, Instant};

use serde_json::json;
use skill_sdk_tests::wire::{Client, PATIENCE, request, until};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::{HEAR, refused, serve};

const STUCK: &str = "/skills/process.stuck@1";
const WAIT: &str = "/skills/process.wait@1";

/// How many quick calls it takes until a skill has no threads of its own.
const TRUSTED: usize = 16;

/// Longer than a skill may keep a thread that polls.
const SLOW: Duration = Duration::from_millis(20);

/// More calls than it takes to be no news any more.
const MANY: usize = 20;

#[tokio::test]
async fn skills_that_block_are_answered_in_time_and_stop_nobody() {
    let program = serve(&[], &[("TEST_SECRET", "s")]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let body = json!({"inputs": {"address": listener.local_addr().unwrap().to_string()}}).to_string();
    // A call that runs, and the connection that it waits for.
    let begun = async || {
        let mut caller = Client::connect(program.address).await;
        caller.send(request("POST", STUCK, &[], &body)).await;
        let held = timeout(PATIENCE, listener.accept()).await;
        (caller, held.expect("it is called in time").unwrap().0)
    };
    let metric = async |name: &str, number: usize| {
        let mut client = Client::connect(program.address).await;
        let line = format!("{name}{{skill=\"process.stuck@1\"}} {number}\n");
        client.get("GET", "/metrics").await.body.contains(&line)
    };
    let abandoned = async |number| metric("skill_sdk_calls_abandoned", number).await;
    // It is quick until it is trusted.
    for _ in 0..TRUSTED {
        let (mut caller, held) = begun().await;
        drop(held);
        assert_eq!(caller.receive().await.status, 200);
    }
    // Then it is slow.
    let (mut caller, held) = begun().await;
    let since = Instant::now();
    until("it is slow", async || since.elapsed() > SLOW).await;
    drop(held);
    assert_eq!(caller.receive().await.status, 200);
    for _ in 0..2 {
        let (mut callers, mut held) = (Vec::new(), Vec::new());
        for _ in 0..MANY {
            let (caller, connection) = begun().await;
            callers.push(caller);
            held.push(connection);
        }
        let said = json!({"inputs": {"text": "a", "ending": "good"}}).to_string();
        let other = Client::connect(program.address).await.post(HEAR, &said).await;
        assert_eq!(other.status, 200);
        for mut caller in callers {
            assert_eq!(
                refused(&caller.receive().await),
                (503, "timeout".to_owned(), true)
            );
        }
        assert!(abandoned(MANY).await, "their threads go on");
        drop(held);
        until("the threads are over", async || abandoned(0).await).await;
    }
}

#[tokio::test]
async fn skills_that_wait_are_dropped_with_their_callers() {
    let program = serve(&[], &[]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let body = json!({"inputs": {"address": listener.local_addr().unwrap().to_string()}}).to_string();
    for call in 0..MANY {
        let mut caller = Client::connect(program.address).await;
        caller.send(request("POST", WAIT, &[], &body)).await;
        let (mut held, _) = listener.accept().await.unwrap();
        if call % 2 == 0 {
            drop(held);
            assert_eq!(caller.receive().await.status, 200);
            continue;
        }
        drop(caller);
        assert_eq!(held.read(&mut [0]).await.unwrap(), 0, "call {call}");
    }
}
