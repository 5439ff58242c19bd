//! Shutdown of a server.

use std::time::Duration;

use serde_json::{Value, json};
use skill_sdk_tests::skill_events::{SkillEvent, SkillEvents};
use tokio::runtime::Builder;

use super::client::{Client, Running, call, local_server, start};

fn wait<T>(events: impl Future<Output = T>) -> T {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(events)
}

fn hang(client: &mut Client, id: u64, invocation: &str) -> SkillEvents {
    let mut events = SkillEvents::of_call(invocation);
    client.send(&call(
        id,
        "local.act@1",
        &json!({"action": "hang"}),
        &json!({"invocationId": invocation}),
    ));
    wait(events.started());
    events
}

#[test]
fn without_requests_there_are_no_responses() {
    assert_eq!(Client::new().end(), [json!(null); 0]);
}

#[test]
fn calls_finish_after_the_end_of_the_input() {
    let mut client = Client::new();
    for id in 0..50 {
        client.act(id, if id % 2 == 0 { "yield" } else { "go" });
    }
    // The last line has no line break.
    let last = call(50, "local.act@1", &json!({"action": "go"}), &Value::Null);
    std::io::Write::write_all(client.input.as_mut().unwrap(), last.as_bytes()).unwrap();
    let answers = client.end();
    assert_eq!(answers.len(), 51);
    assert!(answers.iter().all(|line| line["outputs"].is_object()));
}

#[test]
fn calls_over_the_drain_timeout_get_a_response() {
    let mut client = Client::of(local_server().drain(Duration::from_millis(50)));
    let mut events = hang(&mut client, 1, "drained");
    let answers = client.end();
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (&answers[0]["id"], &answers[0]["error"]["code"]),
        (&json!(1), &json!("cancelled"))
    );
    wait(events.dropped());
}

#[test]
fn shutdown_finishes_running_calls_and_rejects_new_ones() {
    let mut client = Client::new();
    hang(&mut client, 1, "stopped");
    client.stop.take().unwrap().send(()).unwrap();
    // The server notices the signal after a moment; until then it accepts calls.
    loop {
        client.act(2, "go");
        let line = client.take();
        if line["outputs"].is_null() {
            assert_eq!(line["error"]["code"], "overloaded", "{line}");
            assert_eq!(line["error"]["retryable"], true, "{line}");
            break;
        }
    }
    client.send(r#"{"cancel": 1}"#);
    assert_eq!(client.take_failure(), (json!(1), "cancelled".to_owned()));
    // The input is still open.
    let input = client.input.take();
    assert_eq!(client.rest(), [json!(null); 0]);
    drop(input);
}

#[test]
fn a_disconnect_cancels_the_calls() {
    let Running {
        input,
        output,
        done,
        stop,
    } = start(local_server());
    let mut input = input;
    let mut events = SkillEvents::of_call("gone");
    let mut send = |line: String| std::io::Write::write_all(&mut input, (line + "\n").as_bytes());
    send(call(
        1,
        "local.act@1",
        &json!({"action": "hang"}),
        &json!({"invocationId": "gone"}),
    ))
    .unwrap();
    wait(events.started());
    drop(output);
    // Writing the next response detects the disconnect.
    send(call(2, "local.act@1", &json!({"action": "go"}), &Value::Null)).unwrap();
    assert!(matches!(wait(events.next()), SkillEvent::Dropped));
    done.wait();
    drop(stop);
}
