//! Progress, cancellation, timeouts, and calls that keep their threads.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skill_sdk_tests::signs::{Sign, Signs};

use super::client::{Client, block_on, call, failed};

#[test]
fn progress_comes_when_asked_for_and_never_after_the_result() {
    let mut client = Client::legacy();
    client.act(1, "progress", &Value::Null);
    assert_eq!(client.take()["id"], 1);
    for token in [json!("p"), json!(7)] {
        let invocation = format!("progress-{token}");
        let mut signs = Signs::of_call(&invocation);
        let meta = json!({"progressToken": token, "skill/invocationId": invocation});
        client.act(2, "progress", &meta);
        let report = |progress: Value| json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress});
        assert_eq!(
            client.take(),
            report(json!({"progressToken": token, "progress": 1, "total": 2, "message": "half"}))
        );
        assert_eq!(
            client.take(),
            report(json!({"progressToken": token, "progress": 1, "total": 2, "message": "back"}))
        );
        assert_eq!(
            client.take(),
            report(json!({"progressToken": token, "progress": 2}))
        );
        assert_eq!(client.take()["id"], 2);
        let context = block_on(signs.started());
        context.progress(3.0, None, "too late");
    }
    client.act(3, "progress", &json!({"progressToken": {"not": "a token"}}));
    assert_eq!(client.take()["id"], 3);
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn a_cancelled_call_ends_and_is_not_answered() {
    let mut client = Client::legacy();
    for (tool, arguments) in [
        ("mcp.act", json!({"action": "hang"})),
        ("mcp.block", json!({})),
        ("mcp.spin", json!({})),
    ] {
        let invocation = format!("cancel-{tool}");
        let mut signs = Signs::of_call(&invocation);
        client.send(call(
            1,
            tool,
            &arguments,
            &json!({"skill/invocationId": invocation, "progressToken": tool}),
        ));
        let context = block_on(signs.started());
        context.progress(0.5, None, "in time");
        loop {
            let report = client.take();
            assert_eq!(report["params"]["progressToken"], tool);
            if report["params"]["message"] == "in time" {
                break;
            }
        }
        let start = Instant::now();
        client.cancel(1);
        block_on(context.cancelled());
        assert!(
            start.elapsed() < Duration::from_millis(250),
            "{tool}: {:?}",
            start.elapsed()
        );
        assert!(matches!(block_on(signs.next()), Sign::Dropped | Sign::Ended));
        context.progress(1.0, None, "too late");
    }
    client.act(2, "a", &Value::Null);
    assert_eq!(client.take()["id"], 2);
    assert_eq!(client.end(), Vec::<Value>::new());
}

#[test]
fn calls_that_keep_their_threads_delay_nobody() {
    let mut client = Client::legacy();
    let mut all = Vec::new();
    for (number, tool) in ["mcp.block", "mcp.spin", "mcp.spin"].into_iter().enumerate() {
        let invocation = format!("keep-{number}");
        let mut signs = Signs::of_call(&invocation);
        client.send(call(
            number,
            tool,
            &json!({}),
            &json!({"skill/invocationId": invocation}),
        ));
        block_on(signs.started());
        all.push(signs);
    }
    for number in 0..100 {
        let start = Instant::now();
        client.act(100 + number, "a", &Value::Null);
        let answer = client.take();
        // The calls that do not yield are over their time of a second at the end.
        if answer["id"].as_u64().unwrap() < 3 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    }
    client.cancel(0);
    client.cancel(1);
    client.cancel(2);
}

#[test]
fn the_timeout_is_kept_also_when_the_body_does_not_yield() {
    let mut client = Client::legacy();
    let mut signs = Signs::of_call("spin-over-time");
    client.send(call(
        1,
        "mcp.spin",
        &json!({}),
        &json!({"skill/invocationId": "spin-over-time"}),
    ));
    let context = block_on(signs.started());
    assert_eq!(failed(&client.take()), ("timeout".to_owned(), true));
    assert!(context.is_cancelled());
    block_on(signs.ended());
    assert_eq!(client.end(), Vec::<Value>::new());
}
