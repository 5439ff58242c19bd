//! The end of a host.

use std::time::Duration;

use serde_json::{Value, json};
use skill_sdk_tests::signs::{Sign, Signs};
use tokio::runtime::Builder;

use super::client::{Client, Ends, call, host, start};

fn wait<T>(signs: impl Future<Output = T>) -> T {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(signs)
}

fn hang(client: &mut Client, id: u64, invocation: &str) -> Signs {
    let mut signs = Signs::of_call(invocation);
    client.send(&call(
        id,
        "local.act@1",
        &json!({"action": "hang"}),
        &json!({"invocationId": invocation}),
    ));
    wait(signs.started());
    signs
}

#[test]
fn nothing_asked_is_nothing_answered() {
    assert_eq!(Client::new().end(), [json!(null); 0]);
}

#[test]
fn accepted_calls_are_answered_after_the_end_of_the_input() {
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
fn calls_that_take_too_long_are_given_up_with_an_answer() {
    let mut client = Client::of(host().drain(Duration::from_millis(50)));
    let mut signs = hang(&mut client, 1, "drained");
    let answers = client.end();
    assert_eq!(answers.len(), 1);
    assert_eq!(
        (&answers[0]["id"], &answers[0]["error"]["code"]),
        (&json!(1), &json!("cancelled"))
    );
    wait(signs.dropped());
}

#[test]
fn a_host_that_is_told_to_stop_finishes_what_runs_and_refuses_the_rest() {
    let mut client = Client::new();
    hang(&mut client, 1, "stopped");
    client.stop.take().unwrap().send(()).unwrap();
    // It hears of it at some moment; until then calls are served.
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
    assert_eq!(client.refused(), (json!(1), "cancelled".to_owned()));
    // The input is still open.
    let input = client.input.take();
    assert_eq!(client.rest(), [json!(null); 0]);
    drop(input);
}

#[test]
fn a_client_that_goes_away_cancels_its_calls() {
    let Ends {
        input,
        output,
        done,
        stop,
    } = start(host());
    let mut input = input;
    let mut signs = Signs::of_call("gone");
    let mut send = |line: String| std::io::Write::write_all(&mut input, (line + "\n").as_bytes());
    send(call(
        1,
        "local.act@1",
        &json!({"action": "hang"}),
        &json!({"invocationId": "gone"}),
    ))
    .unwrap();
    wait(signs.started());
    drop(output);
    // The next answer finds out.
    send(call(2, "local.act@1", &json!({"action": "go"}), &Value::Null)).unwrap();
    assert!(matches!(wait(signs.next()), Sign::Dropped));
    done.wait();
    drop(stop);
}
