//! Shared by the tests: recorded cases, their skills, captured logs, servers and raw HTTP clients.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "this code runs in tests only, where a panic is a failed test"
)]
#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "the signatures of the skills are part of the tests"
)]

pub mod cases;
#[cfg(doctest)]
mod docs;
pub mod http2;
pub mod log;
pub mod program;
pub mod raw_http;
pub mod sample;
pub mod skill_events;
