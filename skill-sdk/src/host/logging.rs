//! Where the log of a program goes, and its traces.

use std::env::VarError;
use std::io::{self, IsTerminal};

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use super::fields::JsonFields;

/// The variable that chooses what is logged, in the notation of `tracing_subscriber::EnvFilter`.
const FILTER: &str = "RUST_LOG";

/// How the log of a program looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
#[non_exhaustive]
pub enum LogFormat {
    /// Lines for people on a terminal, JSON elsewhere
    #[default]
    Auto,
    /// Lines for people
    Text,
    /// One JSON object a line
    Json,
}

/// Logs to standard error, and exports traces when the environment asks for it. Does nothing when the author's own code
/// set up a log before.
pub(super) fn start(format: LogFormat) -> Started {
    let (filter, unusable) = filter();
    let terminal = io::stderr().is_terminal();
    let log = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    let json = match format {
        LogFormat::Auto => !terminal,
        LogFormat::Text => false,
        LogFormat::Json => true,
    };
    let log: Box<dyn Layer<Registry> + Send + Sync> = if json {
        // The list, since the innermost span may be one of the author's, without the fields of the call.
        let log = log.json().flatten_event(true).with_current_span(true);
        Box::new(log.with_span_list(true).fmt_fields(JsonFields))
    } else {
        let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Box::new(log.with_ansi(colour))
    };
    #[cfg(feature = "telemetry")]
    let (traces, problem) = super::telemetry::traces();
    #[cfg(feature = "telemetry")]
    let started = match &traces {
        // Traces have a filter of their own.
        Some(traces) => {
            let log = tracing_subscriber::registry().with(log.with_filter(filter));
            log.with(traces.layer()).try_init().is_ok()
        }
        None => one_filter(log, filter),
    };
    #[cfg(not(feature = "telemetry"))]
    let started = one_filter(log, filter);
    // Else a log that is missing would be looked for elsewhere.
    if let Some(problem) = unusable.filter(|_| started) {
        tracing::warn!(problem, "RUST_LOG is not understood, so the level is info");
    }
    #[cfg(feature = "telemetry")]
    if let Some(problem) = problem {
        tracing::warn!(problem, "traces are not exported");
    }
    Started {
        #[cfg(feature = "telemetry")]
        traces,
    }
}

/// Starts the log with the only filter of the program, which costs a call less than one among several; says whether it did.
/// Somebody else's subscriber stays in place.
fn one_filter(log: Box<dyn Layer<Registry> + Send + Sync>, filter: EnvFilter) -> bool {
    let log = tracing_subscriber::registry().with(log).with(filter);
    log.try_init().is_ok()
}

/// What is logged, and why that is not what the variable says.
fn filter() -> (EnvFilter, Option<String>) {
    let (problem, text) = match std::env::var(FILTER) {
        Ok(text) => match EnvFilter::try_new(&text) {
            Ok(filter) => return (filter, None),
            Err(error) => (Some(error.to_string()), text),
        },
        Err(VarError::NotPresent) => (None, String::new()),
        Err(VarError::NotUnicode(_)) => (Some("it is not UTF-8".to_owned()), String::new()),
    };
    let problem = problem.map(|why| format!("{text:?}: {why}"));
    (EnvFilter::new("info"), problem)
}

/// A log that was started.
#[derive(Debug)]
pub(super) struct Started {
    #[cfg(feature = "telemetry")]
    traces: Option<super::telemetry::Traces>,
}

impl Started {
    /// Sends what was not sent yet. Must be called outside of the runtime.
    pub(super) fn finish(self) {
        #[cfg(feature = "telemetry")]
        if let Some(traces) = self.traces {
            traces.finish();
        }
        #[cfg(not(feature = "telemetry"))]
        let Self {} = self;
    }
}
