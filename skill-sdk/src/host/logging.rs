//! Where the log of a program goes.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

/// The variable that chooses what is logged, in the notation of `tracing_subscriber::EnvFilter`.
const FILTER: &str = "RUST_LOG";

/// How the log of a program looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Lines for people.
    Lines,
    /// Lines for people on a terminal, JSON elsewhere.
    #[cfg(feature = "http")]
    JsonOffTerminal,
}

/// Logs to standard error. Does nothing when the author's own code set up a log before.
pub(super) fn start(form: Form) {
    let filter = EnvFilter::try_from_env(FILTER).unwrap_or_else(|_| EnvFilter::new("info"));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr);
    let terminal = io::stderr().is_terminal();
    // Somebody else's subscriber stays in place.
    if terminal || form == Form::Lines {
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        drop(log.with_ansi(colour).try_init());
    } else {
        drop(
            log.json()
                .flatten_event(true)
                .with_current_span(true)
                .with_span_list(false)
                .try_init(),
        );
    }
}
