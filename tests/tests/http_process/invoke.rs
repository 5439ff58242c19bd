//! `invoke` and signals.

use std::io::Read;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use skill_sdk_tests::program::signal;

use super::BINARY;

#[test]
fn ctrl_c_cancels_the_call() {
    for (skill, name, code) in [
        ("process.wait", "INT", 130),
        ("process.wait", "TERM", 143),
        ("process.work", "INT", 130),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let inputs = json!({"address": listener.local_addr().unwrap().to_string()});
        let program = Command::new(BINARY)
            .args(["invoke", skill, "--input", &inputs.to_string()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (mut called, _) = listener.accept().unwrap();
        signal(program.id(), name);
        let mut said = String::new();
        called.read_to_string(&mut said).unwrap();
        // A plain function that looks whether its call is cancelled has time for the rest.
        assert_eq!(said, if skill == "process.work" { "cleaned up" } else { "" });
        let ended = program.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{skill}");
        let document: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!(document["error"]["code"], "cancelled");
        assert_eq!(document["error"]["retryable"], true);
    }
}

#[test]
fn a_second_signal_ends_a_call_that_does_not_stop() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let inputs = json!({"address": listener.local_addr().unwrap().to_string()});
    let program = Command::new(BINARY)
        .args(["invoke", "process.stuck", "--input", &inputs.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let _called = listener.accept().unwrap();
    // Two of one kind might be received as one.
    signal(program.id(), "TERM");
    signal(program.id(), "INT");
    let ended = program.wait_with_output().unwrap();
    assert!(matches!(ended.status.code(), Some(130 | 143)), "{ended:?}");
    assert!(ended.stdout.is_empty());
}
