//! What the tests share: the recorded cases, the skills that they call, the log and the wire as a test sees them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "all of this runs in tests, where a panic is a failed test"
)]
#![allow(
    clippy::unused_async,
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "skills have the shape that is tested"
)]

pub mod cases;
#[cfg(doctest)]
mod docs;
pub mod http2;
pub mod log;
pub mod program;
pub mod sample;
pub mod signs;
pub mod wire;
