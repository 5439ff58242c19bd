//! Servers, from their arguments to the exit code.

#[cfg(feature = "http")]
mod http;
mod local;
#[cfg(feature = "mcp")]
mod mcp;
mod runtime;
#[cfg(feature = "http")]
mod sample;

use std::fmt::Display;
use std::future::Future;
use std::io::{self, Write};
use std::pin::Pin;
use std::process::ExitCode;
use std::time::Duration;

use super::args::{Serve, SkillNames};
use super::command::Failure;
use super::logging::{self, LogFormat};
use super::signals::stop_signal;
use super::stdio::ProtocolStdio;
use crate::pipeline::{SkillSet, install_panic_hook};

/// Resolves when the program is told to stop.
type Stop = Pin<Box<dyn Future<Output = ()>>>;

/// Serves the skills with these refs; none: all of the program. A protocol on standard input and output gets `stdio`.
pub(super) fn serve(
    serve: &Serve<SkillNames>,
    refs: &[String],
    stdio: Option<ProtocolStdio>,
) -> Result<ExitCode, Failure> {
    if let Some(args) = serve.http() {
        args.check()?;
    }
    match (serve, stdio) {
        (Serve::Local { args, .. }, stdio) => local::serve(args, refs, stdio),
        #[cfg(feature = "mcp")]
        (Serve::McpStdio { args, .. }, Some(stdio)) => mcp::serve(args, refs, stdio),
        #[cfg(feature = "http")]
        (Serve::Http { args, .. }, _) => http::serve(args, refs),
        #[cfg(feature = "mcp-http")]
        (Serve::McpHttp { args, .. }, _) => http::serve_mcp(args, refs),
        #[cfg(not(feature = "http"))]
        (Serve::Http { .. }, _) => Err(without("http")),
        #[cfg(not(feature = "mcp-http"))]
        (Serve::McpHttp { .. }, _) => Err(without("mcp-http")),
        (Serve::McpStdio { .. }, _) => Err(without("mcp")),
    }
}

fn without(feature: &str) -> Failure {
    Failure::usage(format!(
        "this program was built without the feature `{feature}` of skill-sdk"
    ))
    .help(format!(
        "add it: skill-sdk = {{ features = [\"host\", \"{feature}\"] }}"
    ))
}

/// The failure of a program that links no crate with skills.
pub(super) fn no_skills() -> Failure {
    Failure::usage("this program has no skills")
        .help("name every crate that declares skills in its main file: `use acme_skills as _;`")
}

fn usage(error: impl Display) -> Failure {
    Failure::usage(error.to_string())
}

/// Starts the log and collects the skills with these refs; none: all of the program.
fn start(format: LogFormat, refs: &[String]) -> Result<(logging::Started, SkillSet), Failure> {
    let log = logging::start(format);
    install_panic_hook();
    let skills = SkillSet::collect_only(refs).map_err(usage)?;
    if skills.iter().len() == 0 {
        return Err(no_skills());
    }
    Ok((log, skills))
}

/// Runs a server for so many calls at the same time. A process that has not ended `patience` after a signal is ended; `last`
/// runs before that.
fn run<E: Display>(
    log: logging::Started,
    calls: usize,
    patience: Duration,
    last: impl FnOnce() + Send + 'static,
    serve: impl AsyncFnOnce(Stop) -> Result<(), E>,
) -> Result<ExitCode, Failure> {
    let stop = stop_signal(patience, last)
        .map_err(|error| usage(format_args!("cannot listen for signals: {error}")))?;
    let runtime =
        runtime::runtime(calls).map_err(|error| usage(format_args!("cannot start the runtime: {error}")))?;
    let served = runtime.block_on(serve(Box::pin(stop)));
    // What still runs was given its time.
    runtime.shutdown_background();
    log.finish();
    served.map(|()| ExitCode::SUCCESS).map_err(usage)
}

/// Says where a server listens. A reader that went away does not stop it.
fn announce(place: impl Display) {
    let mut stdout = io::stdout();
    drop(writeln!(stdout, "listening on {place}").and_then(|()| stdout.flush()));
}
