//! Where the log of a program goes.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::time::SystemTime;

/// The variable that chooses what is logged, in the notation of `tracing_subscriber::EnvFilter`.
const FILTER: &str = "RUST_LOG";

/// Logs to standard error: lines for people on a terminal, JSON elsewhere. Does nothing when the author's own code
/// set up a log before.
pub(super) fn start() {
    let filter = EnvFilter::try_from_env(FILTER).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_timer(SystemTime);
    // Somebody else's subscriber stays in place.
    if io::stderr().is_terminal() {
        drop(
            lines
                .with_ansi(std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()))
                .try_init(),
        );
    } else {
        drop(lines.json().flatten_event(true).with_ansi(false).try_init());
    }
}
