//! Where the log of a program goes, and its traces.

use std::io::{self, IsTerminal};

use serde::{Deserialize, Serialize};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use super::fields::JsonFields;

/// The variable that chooses what is logged, in the notation of `tracing_subscriber::EnvFilter`.
const FILTER: &str = "RUST_LOG";

/// How the log of a program looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "host", derive(clap::ValueEnum))]
#[serde(rename_all = "camelCase")]
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
    let mut filter = EnvFilter::try_from_env(FILTER).unwrap_or_else(|_| EnvFilter::new("info"));
    // That library logs requests as they are.
    if let Ok(quiet) = "rmcp=error".parse() {
        filter = filter.add_directive(quiet);
    }
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
    let traces = {
        let (traces, problem) = super::telemetry::traces();
        if let Some(layer) = traces.as_ref().map(super::telemetry::Traces::layer) {
            // Traces have a filter of their own.
            let log = tracing_subscriber::registry().with(log.with_filter(filter));
            drop(log.with(layer).try_init());
        } else {
            one_filter(log, filter);
        }
        if let Some(problem) = problem {
            tracing::warn!(problem, "traces are not exported");
        }
        traces
    };
    #[cfg(not(feature = "telemetry"))]
    one_filter(log, filter);
    Started {
        #[cfg(feature = "telemetry")]
        traces,
    }
}

/// Starts the log with the only filter of the program, which costs a call less than one among several. Somebody else's
/// subscriber stays in place.
fn one_filter(log: Box<dyn Layer<Registry> + Send + Sync>, filter: EnvFilter) {
    drop(tracing_subscriber::registry().with(log).with(filter).try_init());
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
