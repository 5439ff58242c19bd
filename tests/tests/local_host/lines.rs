//! What a line is answered with.

use std::future::pending;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use serde_json::{Value, json};
use skill_sdk::local::{DEFAULT_LINE_LIMIT, serve};

use super::SKILLS;
use super::client::{Client, PATIENCE, call, host};

fn act(id: Value, action: &str) -> String {
    call(id, "local.act@1", &json!({"action": action}), &Value::Null)
}

#[test]
fn a_line_and_its_answer() {
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
            "\r\n  \n".to_owned() + &act(json!(7), "empty lines are none"),
            r#"{"id":7,"outputs":{"result":"empty lines are none"},"cost":null}"#.to_owned(),
        ),
    ] {
        client.send(&line);
        assert_eq!(client.line(), answer, "{line}");
    }
    assert_eq!(client.end(), [json!(null); 0]);
}

#[test]
fn what_stands_beside_the_inputs_reaches_the_skill() {
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
fn lines_that_are_none_are_refused_and_the_next_is_served() {
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
        assert_eq!(client.refused(), (id, code.to_owned()), "{line}");
        client.act(2, "go");
        assert_eq!(client.take()["id"], 2);
    }
    client.send(b"\xff\xfe");
    assert_eq!(client.refused().1, "bad_request");
    let deep = format!(
        "{{\"id\":1,\"skill\":\"local.act@1\",\"inputs\":{{\"action\":{}{}}}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    client.send(&deep);
    assert_eq!(
        client.refused(),
        (json!(1), "input_contract_violation".to_owned())
    );
    client.end();
}

/// A call whose line is longer than the limit.
fn too_long(id: &str, limit: usize) -> Vec<u8> {
    let inputs = "y".repeat(limit);
    format!("{{\"id\":{id},\"skill\":\"local.act@1\",\"inputs\":{{\"action\":\"{inputs}\"}}}}").into_bytes()
}

#[test]
fn a_huge_line_is_refused_and_the_next_is_served() {
    for limit in [100, DEFAULT_LINE_LIMIT] {
        let mut client = Client::of(host().line_limit(limit));
        for (line, id) in [
            (vec![b'x'; limit + 1], json!(null)),
            (
                format!(
                    "{{\"id\":\"a\",\"skill\":\"local.act@1\",\"inputs\":{{\"action\":\"{}",
                    "y".repeat(limit * 2)
                )
                .into_bytes(),
                json!("a"),
            ),
            // What looks like an id and is not JSON is not repeated.
            (too_long("1x", limit), json!(null)),
            (too_long("\"a\tb\"", limit), json!(null)),
            (too_long("\"a\"\"b\"", limit), json!(null)),
            (too_long("\"\\ud800\"", limit), json!(null)),
            // What is cut off ends with the text of the id.
            (
                format!(
                    "{{\"id\":5,\"skill\":\"local.act@1\",\"inputs\":{{\"action\":\"{}",
                    "5".repeat(limit * 2)
                )
                .into_bytes(),
                json!(5),
            ),
        ] {
            client.send(&line);
            assert_eq!(client.refused(), (id, "payload_too_large".to_owned()));
        }
        client.send(&act(json!(1), "go"));
        assert_eq!(client.take()["outputs"]["result"], "go");
        // A line of just the limit is read.
        client.send(&vec![b'x'; limit]);
        assert_eq!(client.refused().1, "bad_request");
        client.end();
    }
}

#[test]
fn the_list_holds_the_contracts() {
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

#[test]
fn streams_that_do_not_wait_are_served_as_others_are() {
    // Whoever shares a pipe may have made it so.
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let (input, output) = (theirs.try_clone().unwrap(), theirs);
    let done = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(serve(host(), input, output, pending()))
    });
    let mut sending = ours.try_clone().unwrap();
    let writer = thread::spawn(move || {
        for id in 0..200 {
            // Both ways are full before the client reads: an answer is as long as its line.
            writeln!(sending, "{}", act(json!(id), &"x".repeat(100_000))).unwrap();
        }
        sending.shutdown(Shutdown::Write).unwrap();
    });
    let mut ids: Vec<u64> = BufReader::new(ours)
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(&line.unwrap()).unwrap()["id"]
                .as_u64()
                .unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..200).collect::<Vec<_>>());
    writer.join().unwrap();
    done.join().unwrap().unwrap();
}

/// Says how much is written at a time.
struct Counted(Sender<usize>);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes.len()).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_answers_of_lines_that_come_together_are_written_together() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (wrote, writes) = channel();
    let done = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime
            .unwrap()
            .block_on(serve(host(), theirs, Counted(wrote), pending()))
    });
    // They are refused: how long a call takes is up to the machine.
    (&ours).write_all(b"no line\n").unwrap();
    let answer = writes.recv_timeout(PATIENCE).unwrap();
    let mut count = 0;
    for _ in 0..50 {
        (&ours).write_all("no line\n".repeat(16).as_bytes()).unwrap();
        let mut missing = 16 * answer;
        while missing > 0 {
            missing -= writes.recv_timeout(PATIENCE).unwrap();
            count += 1;
        }
    }
    // A thread that the system keeps loses its turn, and then its batch is written by two.
    assert!(count < 2 * 50, "{count} writes");
    drop(ours);
    done.join().unwrap().unwrap();
}

#[test]
fn a_reader_that_panics_is_a_failure_of_the_host() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            panic!("hunter2")
        }
    }
    let (sender, ended) = channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        sender.send(
            runtime
                .unwrap()
                .block_on(serve(host(), Broken, io::sink(), pending())),
        )
    });
    let ended = ended.recv_timeout(PATIENCE).expect("the host ends in time");
    assert!(ended.unwrap_err().to_string().contains("ended unexpectedly"));
}
