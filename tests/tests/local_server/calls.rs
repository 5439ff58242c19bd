//! Concurrent calls.

use std::io::{BufRead, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skill_sdk::context::NoticeLevel;
use skill_sdk_tests::skill_events::{self, SkillEvent, SkillEvents};
use tokio::runtime::Builder;

use super::client::{Client, Running, call, local_server, start};

/// Blocks on events of a skill.
fn wait<T>(events: impl Future<Output = T>) -> T {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(events)
}

/// The two kinds of long calls, with inputs: one waits asynchronously, one blocks its thread.
const LONG_CALLS: [(&str, &str); 2] = [("local.act@1", r#"{"action": "hang"}"#), ("local.block@1", "{}")];

/// Starts a long call and waits until it is running.
fn start_long_call(
    client: &mut Client,
    id: u64,
    kind: usize,
    invocation: &str,
    timeout: Option<f64>,
) -> SkillEvents {
    let (skill, inputs) = LONG_CALLS[kind];
    let mut events = SkillEvents::of_call(invocation);
    let inputs: Value = serde_json::from_str(inputs).unwrap();
    let meta = json!({"invocationId": invocation, "timeoutSeconds": timeout});
    client.send(&call(id, skill, &inputs, &meta));
    wait(events.started());
    events
}

#[test]
fn responses_are_sent_as_calls_finish() {
    let mut client = Client::new();
    for kind in 0..LONG_CALLS.len() {
        start_long_call(&mut client, 100 + kind as u64, kind, &format!("as-{kind}"), None);
        for round in 0..20 {
            client.act(round, "go");
            assert_eq!(client.take()["id"], round);
            client.act(round, "yield");
            assert_eq!(client.take()["id"], round);
        }
    }
    for kind in 0..LONG_CALLS.len() {
        client.send(&json!({"cancel": 100 + kind}).to_string());
        assert_eq!(client.take_failure(), (json!(100 + kind), "cancelled".to_owned()));
    }
    assert_eq!(client.end(), [json!(null); 0]);
}

#[test]
fn a_cancelled_call_gets_one_response() {
    for kind in 0..LONG_CALLS.len() {
        let mut client = Client::new();
        let mut events = start_long_call(&mut client, 1, kind, &format!("cancelled-{kind}"), None);
        client.send(r#"{"cancel": 1}"#);
        let line = client.take();
        assert_eq!(line["error"]["code"], "cancelled", "{line}");
        assert_eq!(line["error"]["retryable"], true, "{line}");
        wait(async {
            assert!(matches!(
                events.next().await,
                SkillEvent::Dropped | SkillEvent::Ended
            ));
        });
        // Cancelling a call that is not running has no effect and no response.
        client.send(r#"{"cancel": 1}"#);
        client.send(r#"{"cancel": "x"}"#);
        // The id can be used again.
        client.act(1, "go");
        assert_eq!(client.take()["outputs"]["result"], "go");
        assert_eq!(client.end(), [json!(null); 0]);
    }
}

#[test]
fn a_timed_out_call_gets_a_response_while_its_thread_runs() {
    for kind in 0..LONG_CALLS.len() {
        let mut client = Client::new();
        let mut events = start_long_call(&mut client, 1, kind, &format!("over-{kind}"), Some(0.25));
        let line = client.take();
        assert_eq!(line["error"]["code"], "timeout", "{line}");
        assert_eq!(line["error"]["retryable"], true, "{line}");
        wait(async {
            assert!(matches!(
                events.next().await,
                SkillEvent::Dropped | SkillEvent::Ended
            ));
        });
        client.act(1, "go");
        assert_eq!(client.take()["outputs"]["result"], "go");
        assert_eq!(client.end(), [json!(null); 0]);
    }
}

#[test]
fn a_duplicate_id_is_rejected_without_an_id() {
    let mut client = Client::of(local_server().line_limit(10_000));
    for kind in 0..LONG_CALLS.len() {
        let _events = start_long_call(&mut client, 7, kind, &format!("twice-{kind}"), None);
        let too_long = format!(r#"{{"id":7,"skill":"{}"}}"#, "x".repeat(10_000));
        for (line, code) in [
            (
                r#"{"id":7,"skill":"local.act@1","inputs":{"action":"go"}}"#,
                "bad_request",
            ),
            (r#"{"id":7,"skill":"local.act@1","inputs":1}"#, "bad_request"),
            (r#"{"id":7,"list":true}"#, "bad_request"),
            (
                r#"{"id":7,"skill":"local.none@1","inputs":{}}"#,
                "skill_not_hosted",
            ),
            (&*too_long, "bad_request"),
        ] {
            client.send(line);
            assert_eq!(client.take_failure(), (json!(null), code.to_owned()), "{line}");
        }
        client.act("7", "go");
        assert_eq!(client.take()["id"], "7");
        client.send(r#"{"cancel": 7}"#);
        assert_eq!(client.take_failure(), (json!(7), "cancelled".to_owned()));
    }
    client.end();
}

#[test]
fn progress_is_sent_only_before_the_response() {
    let mut client = Client::new();
    let mut events = SkillEvents::of_call("progress");
    let meta = json!({"invocationId": "progress"});
    client.send(&call("p", "local.act@1", &json!({"action": "progress"}), &meta));
    for expected in [
        r#"{"id":"p","progress":{"done":1.0,"total":2.0,"message":"half"}}"#,
        r#"{"id":"p","progress":{"done":2.0,"total":null,"message":""}}"#,
        r#"{"id":"p","outputs":{"result":"progress"},"cost":null}"#,
    ] {
        assert_eq!(client.line(), expected);
    }
    let context = wait(events.started());
    context.progress(3.0, None, "too late");
    assert_eq!(client.end(), [json!(null); 0]);
}

#[test]
fn notices_are_sent_on_request() {
    let mut client = Client::new();
    let answer = r#"{"id":"n","outputs":{"result":"notify"},"cost":null}"#;
    let error = r#"{"id":"n","notice":{"level":"error","message":"line\nbreak Ё"}}"#;
    let info = r#"{"id":"n","notice":{"level":"info","message":"busy"}}"#;
    for (level, expected) in [
        (json!("debug"), &[info, error, answer][..]),
        (json!("info"), &[info, error, answer]),
        (json!("notice"), &[error, answer]),
        (json!("error"), &[error, answer]),
        (json!(null), &[answer]),
    ] {
        let invocation = format!("notices-{level}");
        let mut events = SkillEvents::of_call(&invocation);
        let meta = json!({"notices": level, "invocationId": invocation});
        client.send(&call("n", "local.act@1", &json!({"action": "notify"}), &meta));
        for expected in expected {
            assert_eq!(client.line(), *expected, "{level}");
        }
        let context = wait(events.started());
        context.notify(NoticeLevel::Error, "too late");
    }
    for level in [json!("Info"), json!("emergency"), json!(""), json!(true)] {
        let meta = json!({"notices": level});
        client.send(&call("n", "local.act@1", &json!({"action": "notify"}), &meta));
        let line = client.take();
        assert_eq!(
            (&line["id"], &line["error"]["code"]),
            (&json!("n"), &json!("bad_request"))
        );
        assert_eq!(
            line["error"]["message"],
            "\"notices\" must be one of debug, info, notice, warning, error"
        );
    }
    assert_eq!(client.end(), [json!(null); 0]);
}

#[test]
fn the_trace_of_the_caller_reaches_the_skill() {
    let mut client = Client::new();
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for (meta, expected) in [
        (json!({"traceparent": parent}), format!("traceparent={parent};")),
        (
            json!({"tracestate": "vendor=1", "traceparent": parent}),
            format!("traceparent={parent};tracestate=vendor=1;"),
        ),
        (
            json!({"traceparent": null, "tracestate": "vendor=1"}),
            String::new(),
        ),
        (json!({"traceparent": "nonsense"}), String::new()),
        (json!({"traceparent": 1, "tracestate": []}), String::new()),
        (
            json!({"traceparent": parent, "tracestate": 7}),
            format!("traceparent={parent};"),
        ),
        (json!({}), String::new()),
    ] {
        client.send(&call("t", "local.act@1", &json!({"action": "trace"}), &meta));
        assert_eq!(client.take()["outputs"]["result"], expected, "{meta}");
    }
    assert_eq!(client.end(), [json!(null); 0]);
}

#[test]
fn sequential_calls_need_one_permit() {
    let mut client = Client::of(local_server().concurrency(1));
    for id in 0..500 {
        client.act(id, if id % 2 == 0 { "go" } else { "yield" });
        let line = client.take();
        assert!(line["outputs"].is_object(), "{line}");
    }
    client.end();
}

#[test]
fn limits_can_be_the_largest_number() {
    let mut client = Client::of(local_server().concurrency(usize::MAX).line_limit(usize::MAX));
    client.act(1, "go");
    assert_eq!(client.take()["outputs"]["result"], "go");
    client.end();
}

#[test]
fn calls_beyond_the_limit_wait() {
    let mut client = Client::of(local_server().concurrency(2));
    start_long_call(&mut client, 1, 0, "many-1", None);
    start_long_call(&mut client, 2, 1, "many-2", None);
    let meta = json!({"timeoutSeconds": 0.05});
    client.act(3, "go");
    client.send(&call(4, "local.act@1", &json!({"action": "go"}), &meta));
    // The timeout of a call includes the time that it waits.
    let line = client.take();
    assert_eq!(
        (&line["id"], &line["error"]["code"]),
        (&json!(4), &json!("timeout"))
    );
    assert_eq!(line["error"]["retryable"], true);
    // A waiting call can be cancelled, and its id is in use.
    client.act(5, "go");
    client.act(5, "go");
    assert_eq!(client.take_failure(), (json!(null), "bad_request".to_owned()));
    client.send(r#"{"cancel": 5}"#);
    assert_eq!(client.take_failure(), (json!(5), "cancelled".to_owned()));
    client.send(r#"{"cancel": 1}"#);
    assert_eq!(client.take_failure(), (json!(1), "cancelled".to_owned()));
    assert_eq!(
        client.take(),
        json!({"id": 3, "outputs": {"result": "go"}, "cost": null})
    );
    client.send(r#"{"cancel": 2}"#);
    client.end();
}

#[test]
fn waiting_calls_are_limited_by_memory() {
    let host = local_server().concurrency(1).drain(Duration::from_millis(50));
    let mut client = Client::of(host);
    start_long_call(&mut client, 1, 0, "bytes", None);
    let action = "x".repeat(1_000_000);
    let mut input = client.input.take().unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    thread::spawn(move || {
        for id in 2..20_u64 {
            let line = call(id, "local.act@1", &json!({"action": action}), &Value::Null) + "\n";
            if input.write_all(line.as_bytes()).is_err() {
                return;
            }
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    while sent.load(Ordering::Relaxed) < 4 {
        thread::park_timeout(Duration::from_millis(5));
    }
    let taken = skill_events::wait_until_stable(&sent);
    assert!(taken < 8, "{taken} calls of 1 MB were taken");
    // Waiting calls get a response during shutdown, too.
    client.stop.take().unwrap().send(()).unwrap();
    let answers = client.rest();
    assert!(answers.len() >= taken, "{} responses", answers.len());
}

#[test]
fn a_large_batch_is_processed_completely() {
    const CALLS: usize = 20_000;
    let mut client = Client::new();
    let batch: String = (0..CALLS)
        .map(|id| call(id, "local.act@1", &json!({"action": "go"}), &Value::Null) + "\n")
        .collect();
    client
        .input
        .as_mut()
        .unwrap()
        .write_all(batch.as_bytes())
        .unwrap();
    let mut ids: Vec<_> = client
        .end()
        .into_iter()
        .map(|line| {
            assert!(line["outputs"].is_object(), "{line}");
            line["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..CALLS as u64).collect::<Vec<_>>());
}

#[test]
fn backpressure_stops_reading() {
    let Running {
        mut input,
        output,
        done,
        stop,
    } = start(local_server());
    let sent = Arc::new(AtomicUsize::new(0));
    let action = "x".repeat(1000);
    let writer = {
        let sent = Arc::clone(&sent);
        thread::spawn(move || {
            for id in 0..100_000_usize {
                let line = call(id, "local.act@1", &json!({"action": action}), &Value::Null) + "\n";
                if input.write_all(line.as_bytes()).is_err() {
                    return;
                }
                sent.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    // The server stops reading, so the client can no longer write.
    let blocked = skill_events::wait_until_stable(&sent);
    assert!(blocked < 20_000, "{blocked} calls of 1000 bytes were taken");
    // Once the client reads, it gets the response of every call.
    let mut answers = BufReader::new(output).lines();
    for _ in 0..blocked {
        let line: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert!(line["outputs"]["result"].is_string(), "{line}");
    }
    // Disconnecting ends the server.
    drop(answers);
    done.wait();
    drop(stop);
    writer.join().unwrap();
}

#[test]
fn quick_calls_stay_quick_beside_blocking_calls() {
    let mut client = Client::new();
    for kind in 0..LONG_CALLS.len() {
        start_long_call(
            &mut client,
            1000 + kind as u64,
            kind,
            &format!("beside-{kind}"),
            None,
        );
    }
    let mut times = Vec::new();
    for id in 0..500 {
        let start = Instant::now();
        client.act(id, if id % 2 == 0 { "go" } else { "yield" });
        assert_eq!(client.take()["id"], id);
        times.push(start.elapsed());
    }
    // Other tests run on the same cores and may stall some calls.
    times.sort_unstable();
    assert!(times[474] < Duration::from_millis(500), "{:?}", &times[474..]);
    for kind in 0..LONG_CALLS.len() {
        client.send(&json!({"cancel": 1000 + kind}).to_string());
    }
    assert_eq!(client.end().len(), LONG_CALLS.len());
}

#[test]
fn a_response_does_not_wait_for_the_next_line() {
    // All lines arrive in one write, so the reader has more lines in its buffer while the first calls run.
    for kept in [1, 3] {
        let mut client = Client::new();
        let latch = format!("needs-no-line-{kept}");
        let inputs = json!({"latch": latch});
        let mut lines: Vec<String> = (0..kept)
            .map(|id| call(id, "local.latched@1", &inputs, &Value::Null))
            .collect();
        lines.push(call(
            "quick",
            "local.act@1",
            &json!({"action": "go"}),
            &Value::Null,
        ));
        client.send(&lines.join("\n"));
        assert_eq!(client.take()["id"], "quick");
        super::open_latch(&latch);
        let mut ids: Vec<u64> = (0..kept).map(|_| client.take()["id"].as_u64().unwrap()).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..kept).collect::<Vec<_>>());
        assert_eq!(client.end(), Vec::<Value>::new());
    }
}
