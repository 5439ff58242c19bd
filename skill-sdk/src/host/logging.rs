//! Where the log of a program goes, and its traces.

use std::io::{self, IsTerminal};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry};

/// The variable that chooses what is logged: a level, or levels by target as in `info,hyper=debug`.
const FILTER: &str = "RUST_LOG";

/// How the log of a program looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// Text on a terminal, JSON elsewhere
    #[default]
    Auto,
    /// Lines of text
    Text,
    /// Newline-delimited JSON
    Json,
}

/// Logs to standard error, and exports traces when the environment asks for it. Does nothing when the author's own code
/// set up a log before.
pub(super) fn start(format: LogFormat) {
    let set = std::env::var_os(FILTER).filter(|text| !text.is_empty());
    let parsed = set.map(|text| {
        let text = text.to_string_lossy();
        text.parse::<Targets>()
            .map_err(|error| format!("{text:?}: {error}"))
    });
    let (filter, unusable) = match parsed {
        Some(Ok(filter)) => (filter, None),
        other => (
            Targets::new().with_default(LevelFilter::INFO),
            other.and_then(Result::err),
        ),
    };
    let terminal = io::stderr().is_terminal();
    let log = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let json = match format {
        LogFormat::Auto => !terminal,
        LogFormat::Text => false,
        LogFormat::Json => true,
    };
    let log: Box<dyn Layer<Registry> + Send + Sync> = if json {
        // The list, since the innermost span may be one of the author's, without the fields of the call.
        Box::new(
            log.json()
                .flatten_event(true)
                .with_current_span(true)
                .with_span_list(true),
        )
    } else {
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Box::new(log.with_ansi(colour))
    };
    #[cfg(feature = "telemetry")]
    let started = match super::telemetry::start() {
        Ok(None) => one_filter(log, filter),
        // Traces have a filter of their own.
        Ok(Some(traces)) => {
            let log = tracing_subscriber::registry().with(log.with_filter(filter));
            log.with(traces).try_init().is_ok()
        }
        Err(problem) => {
            let started = one_filter(log, filter);
            tracing::warn!(problem, "traces are not exported");
            started
        }
    };
    #[cfg(not(feature = "telemetry"))]
    let started = one_filter(log, filter);
    // Else a log that is missing would be looked for elsewhere.
    if let Some(problem) = unusable.filter(|_| started) {
        tracing::warn!(problem, "RUST_LOG is not understood, so the level is info");
    }
}

/// Starts the log with the only filter of the program, which costs a call less than one among several; says whether it did.
/// A subscriber that is already installed stays.
fn one_filter(log: Box<dyn Layer<Registry> + Send + Sync>, filter: Targets) -> bool {
    let log = tracing_subscriber::registry().with(log).with(filter);
    log.try_init().is_ok()
}

/// Sends the traces that were not sent yet. Must be called outside of the runtime.
pub(super) fn finish() {
    #[cfg(feature = "telemetry")]
    super::telemetry::finish();
}
