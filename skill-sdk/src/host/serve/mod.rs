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
use std::time::Duration;

use super::args::{Serve, SkillNames};
use super::command::{Failure, exit};
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
) -> Result<u8, Failure> {
    if let Some(args) = serve.http() {
        args.check()?;
    }
    match (serve, stdio) {
        (Serve::Local(about), stdio) => local::serve(&about.args, refs, stdio),
        #[cfg(feature = "mcp")]
        (Serve::McpStdio(about), Some(stdio)) => mcp::serve(&about.args, refs, stdio),
        #[cfg(feature = "http")]
        (Serve::Http(about), _) => http::serve(&about.args, refs),
        #[cfg(feature = "mcp-http")]
        (Serve::McpHttp(about), _) => http::serve_mcp(&about.args, refs),
        #[cfg(not(feature = "http"))]
        (Serve::Http(_), _) => Err(without("http")),
        #[cfg(not(feature = "mcp-http"))]
        (Serve::McpHttp(_), _) => Err(without("mcp-http")),
        (Serve::McpStdio(_), _) => Err(without("mcp")),
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

/// Starts the log and collects the skills with these refs; none: all of the program.
pub(super) fn start(format: LogFormat, refs: &[String]) -> Result<SkillSet, Failure> {
    logging::start(format);
    install_panic_hook();
    let skills = SkillSet::collect_only(refs).map_err(Failure::usage)?;
    if skills.iter().len() == 0 {
        return Err(no_skills());
    }
    Ok(skills)
}

/// Runs a server for so many calls at the same time, with so many worker threads. A process that has not ended `patience` after
/// a signal is ended; `last` runs before that.
fn run<E: Display>(
    (calls, workers): (usize, Option<usize>),
    patience: Duration,
    last: impl FnOnce() + Send + 'static,
    serve: impl AsyncFnOnce(Stop) -> Result<(), E>,
) -> Result<u8, Failure> {
    let stop = stop_signal(patience, last)?;
    let runtime = runtime::runtime(calls, workers)
        .map_err(|error| Failure::usage(format_args!("cannot start the runtime: {error}")))?;
    let served = runtime.block_on(serve(Box::pin(async {
        let _code = stop.await;
    })));
    // What still runs was given its time.
    runtime.shutdown_background();
    logging::finish();
    served.map(|()| exit::GOOD).map_err(Failure::usage)
}

/// Prints where a server listens. A closed standard output does not stop it.
fn announce(text: impl Display) {
    let mut stdout = io::stdout();
    drop(writeln!(stdout, "{text}").and_then(|()| stdout.flush()));
}
