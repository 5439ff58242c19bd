//! The test kit, as authors use it.

#![allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]

mod call;
mod logs;
mod package;
mod server;
mod time;
