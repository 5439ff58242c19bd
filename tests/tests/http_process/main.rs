//! A program with skills as a process: signals, environment variables, output.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]

mod disconnects;
mod invoke;
#[cfg(target_os = "linux")]
mod memory;
mod settings;
mod shutdown;
mod telemetry;

use skill_sdk_tests::program::Program;
use skill_sdk_tests::raw_http::Response;

/// The binary with the skills `process.wait`, `process.hear` and others.
const BINARY: &str = env!("CARGO_BIN_EXE_tests-server");

const HEAR: &str = "/skills/process.hear@1.2";

/// Serves anonymous callers on a free port.
fn serve(flags: &[&str], variables: &[(&str, &str)]) -> Program {
    let mut arguments = vec!["serve", "http", "--allow-anonymous", "--port", "0"];
    arguments.extend(flags);
    Program::serve(BINARY, &arguments, variables)
}

/// The code of a rejection, and whether it is retryable.
fn rejection(answer: &Response) -> (u16, String, bool) {
    let retryable = answer.json()["error"]["retryable"].as_bool().unwrap();
    (answer.status, answer.code(), retryable)
}
