//! The HTTP host as a process: signals, variables, what it writes.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a panic of a test program is a failed test"
)]

mod disconnects;
mod drain;
#[cfg(target_os = "linux")]
mod memory;
mod settings;
mod telemetry;

use skill_sdk_tests::program::Program;
use skill_sdk_tests::wire::Answer;

/// The program with the skills `process.wait` and `process.hear`.
const BINARY: &str = env!("CARGO_BIN_EXE_tests-host");

const HEAR: &str = "/skills/process.hear@1.2";

/// Serves anybody on a free port.
fn serve(flags: &[&str], variables: &[(&str, &str)]) -> Program {
    let mut arguments = vec!["serve", "http", "--allow-anonymous", "--port", "0"];
    arguments.extend(flags);
    Program::serve(BINARY, &arguments, variables)
}

/// The code of a refusal, and whether it is retryable.
fn refused(answer: &Answer) -> (u16, String, bool) {
    let retryable = answer.json()["error"]["retryable"].as_bool().unwrap();
    (answer.status, answer.code(), retryable)
}
