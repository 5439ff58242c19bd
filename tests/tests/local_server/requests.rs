//! Requests and their responses.

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde_json::{Value, json};
use skill_sdk::local::serve;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::SKILLS;
use super::client::{Client, call, local_server};

/// The default limit of a line.
const DEFAULT_LINE_LIMIT: usize = 4 * 1024 * 1024;

fn act(id: Value, action: &str) -> String {
    call(id, "local.act@1", &json!({"action": action}), &Value::Null)
}

#[test]
fn a_request_gets_its_response() {
    let mut client = Client::new();
    for (line, answer) in [
        (
            act(json!(1), "go"),
            r#"{"id":1,"outputs":{"result":"go"},"cost":null}"#.to_owned(),
        ),
        (
            act(json!("\u{e9}"), "go"),
            r#"{"id":"é","outputs":{"result":"go"},"cost":null}"#.to_owned(),
        ),
        (
            act(json!(-0.5e3), "yield"),
            r#"{"id":-500.0,"outputs":{"result":"yield"},"cost":null}"#.to_owned(),
        ),
        (
            act(json!(2), "spend"),
            r#"{"id":2,"outputs":{"result":"spend"},"cost":{"units":{"ё":1.5}}}"#.to_owned(),
        ),
        (
            act(json!(3), "retryable"),
            r#"{"id":3,"error":{"code":"busy","message":"later","retryable":true,"details":null}}"#.to_owned(),
        ),
        (
            act(json!(4), "terminal"),
            r#"{"id":4,"error":{"code":"denied","message":"no","retryable":false,"details":{"why":"policy"}}}"#
                .to_owned(),
        ),
        (
            act(json!(5), "panic"),
            r#"{"id":5,"error":{"code":"skill_error","message":"the implementation of the skill panicked","retryable":false,"details":null}}"#
                .to_owned(),
        ),
        (
            call(6, "local.broken-lines@1", &json!({}), &Value::Null),
            r#"{"id":6,"outputs":{    "a":  "b\n"},"cost":null}"#.to_owned(),
        ),
        (
            "\r\n  \n".to_owned() + &act(json!(7), "empty lines are ignored"),
            r#"{"id":7,"outputs":{"result":"empty lines are ignored"},"cost":null}"#.to_owned(),
        ),
    ] {
        client.send(&line);
        assert_eq!(client.line(), answer, "{line}");
    }
    assert_eq!(client.end(), [json!(null); 0]);
}

#[test]
fn metadata_reaches_the_skill() {
    let mut client = Client::new();
    for (meta, expected) in [
        (json!(null), "local None None false {}"),
        (
            json!({"invocationId": null, "timeoutSeconds": null, "settings": null, "idempotencyKey": null}),
            "local None None false {}",
        ),
        (
            json!({"invocationId": "i", "idempotencyKey": "k", "timeoutSeconds": 6.5, "skill": "local.act@1",
                   "settings": {"package": "p", "version": "1", "schemaRevision": 1, "values": {"a": [1]}}}),
            "local Some(\"i\") Some(\"k\") true {\"a\":[1]}",
        ),
        (
            json!({"timeoutSeconds": 0, "settings": {"values": [1]}}),
            "local None None false {}",
        ),
    ] {
        client.send(&call(1, "local.act@1", &json!({"action": "context"}), &meta));
        assert_eq!(client.take()["outputs"]["result"], expected, "{meta}");
    }
    client.end();
}

#[test]
fn invalid_lines_are_rejected_and_the_next_is_served() {
    let mut client = Client::new();
    for (line, id, code) in [
        ("x", json!(null), "bad_request"),
        ("{\"id\": 1", json!(null), "bad_request"),
        ("{\"id\": 1} x", json!(null), "bad_request"),
        ("[]", json!(null), "bad_request"),
        ("{\"id\": [1], \"list\": true}", json!(null), "bad_request"),
        (
            "{\"id\": 1, \"skill\": \"local.act@1\", \"inputs\": []}",
            json!(1),
            "bad_request",
        ),
        (
            "{\"id\": 1, \"skill\": \"local.act@2\", \"inputs\": {}}",
            json!(1),
            "skill_not_hosted",
        ),
        (
            "{\"id\": 1, \"skill\": \"local.act\", \"inputs\": {}}",
            json!(1),
            "skill_not_hosted",
        ),
        (
            "{\"id\": 1, \"skill\": \"local.act@1\", \"inputs\": {}}",
            json!(1),
            "input_contract_violation",
        ),
    ] {
        client.send(line);
        assert_eq!(client.take_failure(), (id, code.to_owned()), "{line}");
        client.act(2, "go");
        assert_eq!(client.take()["id"], 2);
    }
    client.send(b"\xff\xfe");
    assert_eq!(client.take_failure().1, "bad_request");
    let deep = format!(
        "{{\"id\":1,\"skill\":\"local.act@1\",\"inputs\":{{\"action\":{}{}}}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    client.send(&deep);
    assert_eq!(
        client.take_failure(),
        (json!(1), "input_contract_violation".to_owned())
    );
    client.end();
}

/// A call whose line is longer than the limit.
#[test]
fn an_unknown_version_lists_the_available_ones() {
    let mut client = Client::new();
    client.send(&call(1, "local.act@2", &json!({}), &Value::Null));
    let answer = client.take();
    assert_eq!(
        answer["error"]["message"],
        "local.act@2 is not hosted here; there is local.act@1"
    );
    client.end();
}

fn too_long(limit: usize) -> Vec<u8> {
    act(json!(1), &"y".repeat(limit)).into_bytes()
}

#[test]
fn a_too_long_line_is_rejected_and_the_next_is_served() {
    for limit in [100, DEFAULT_LINE_LIMIT] {
        let mut client = Client::of(local_server().line_limit(limit));
        for line in [vec![b'x'; limit + 1], too_long(limit), too_long(limit * 2)] {
            client.send(&line);
            assert_eq!(client.take_failure(), (json!(null), "bad_request".to_owned()));
        }
        client.send(&act(json!(1), "go"));
        assert_eq!(client.take()["outputs"]["result"], "go");
        // A line of exactly the limit is accepted.
        client.send(&vec![b'x'; limit]);
        assert_eq!(client.take_failure().1, "bad_request");
        client.end();
    }
}

#[test]
fn list_returns_the_contracts() {
    let mut client = Client::new();
    client.send(r#"{"list": true}"#);
    client.send(r#"{"list": true, "id": "l"}"#);
    let (first, second) = (client.take(), client.take());
    assert_eq!((&first["id"], &second["id"]), (&json!(null), &json!("l")));
    assert_eq!(first["skills"], second["skills"]);
    let listed = first["skills"].as_array().unwrap();
    assert_eq!(listed.len(), SKILLS.len());
    for (listed, skill) in listed.iter().zip(SKILLS) {
        let described = skill.described().unwrap();
        assert_eq!(listed["ref"], skill.reference());
        assert_eq!(listed["name"], skill.name());
        assert_eq!(listed["version"], skill.version());
        assert_eq!(listed["contract"], described.document()["contract"]);
    }
    client.end();
}

/// Reports the size of each write.
struct Counted(UnboundedSender<usize>);

impl AsyncWrite for Counted {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Ready(
            self.0
                .send(bytes.len())
                .map(|()| bytes.len())
                .map_err(io::Error::other),
        )
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses_to_a_batch_share_writes() {
    const LINE: &[u8] = b"not JSON\n";
    let (mut ours, theirs) = tokio::io::duplex(4096);
    let (wrote, mut writes) = unbounded_channel();
    let done = tokio::spawn(serve(local_server(), theirs, Counted(wrote), pending()));
    // Invalid lines are rejected at once, so the timing does not depend on calls.
    ours.write_all(LINE).await.unwrap();
    let answer = writes.recv().await.unwrap();
    let mut count = 0;
    for _ in 0..50 {
        ours.write_all(&LINE.repeat(16)).await.unwrap();
        let mut missing = 16 * answer;
        while missing > 0 {
            missing -= writes.recv().await.unwrap();
            count += 1;
        }
    }
    // The writer may find the queue empty while the reader still parses a batch.
    assert!(count < 50 * 16 / 2, "{count} writes");
    drop(ours);
    done.await.unwrap().unwrap();
}
