//! Hosting for a program on this machine, from the request to the exit code.

use std::future::Future;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::fs::File;
use tokio::time::sleep;

use super::process_group::ProcessGroup;
use super::protocol::ServeLocalRequest;
use super::runtime::{LEAST, runtime};
use super::signals::stop_signal_with;
use super::{Refusal, chosen, stdio};
use crate::local::{DEFAULT_CONCURRENCY, DEFAULT_DRAIN, DEFAULT_LINE_LIMIT, LocalServer, serve_until_gone};
use crate::ndjson::is_peer_closed;
use crate::pipeline::install_panic_hook;

/// How often the server looks whether its caller is gone, once the input ended.
const LOOK: Duration = Duration::from_millis(100);

/// Serves until the input ends or the program is told to stop.
pub(super) fn local(request: &ServeLocalRequest) -> Result<ExitCode, Refusal> {
    // Before anything of an author's runs.
    let protocol = match request.socket {
        None => Some(stdio::taken()?),
        Some(_) => None,
    };
    let group = request.parent.map(ProcessGroup::lead).transpose()?;
    #[cfg(feature = "log")]
    let log = super::logging::start(super::logging::LogFormat::Auto);
    install_panic_hook();
    let host = chosen(&request.skills)?;
    let drain = request.drain_seconds.map_or(DEFAULT_DRAIN, Duration::from_secs);
    let calls = request.concurrency.unwrap_or(DEFAULT_CONCURRENCY);
    let local = LocalServer::new(host)
        .line_limit(request.line_limit.unwrap_or(DEFAULT_LINE_LIMIT))
        .concurrency(calls)
        .drain(drain);

    let ending = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&ending);
    let stop = stop_signal_with(drain, move || end(group, &ended));
    let stop = stop.map_err(|error| format!("cannot listen for signals: {error}"))?;
    let runtime = runtime(calls, LEAST)?;
    let served = runtime.block_on(async {
        match (protocol, &request.socket) {
            (Some(protocol), _) => over_stdio(local, protocol, group, stop).await,
            (None, Some(path)) => over_socket(local, path, stop).await,
            (None, None) => Ok(()),
        }
    });
    // What still runs was given its time.
    runtime.shutdown_background();
    #[cfg(feature = "log")]
    log.finish();
    end(group, &ending);
    served.map(|()| ExitCode::SUCCESS)
}

/// The last thing that the host does, or whoever ends it at once. Only the first one goes on and ends the program: the end of a
/// group may be a signal to this process as well.
fn end(group: Option<ProcessGroup>, ending: &AtomicBool) {
    while ending.swap(true, Ordering::SeqCst) {
        std::thread::park();
    }
    if let Some(group) = group {
        group.end();
    }
}

async fn over_stdio(
    local: LocalServer,
    protocol: stdio::ProtocolStdio,
    group: Option<ProcessGroup>,
    stop: impl Future<Output = ()>,
) -> Result<(), Refusal> {
    let failed = |error: io::Error| format!("cannot serve: {error}");
    let stdio::ProtocolStdio { input, output } = protocol;
    let probe = output.try_clone().map_err(failed)?;
    let gone = async move {
        while !is_peer_closed(&probe) && !group.is_some_and(ProcessGroup::lost_its_parent) {
            sleep(LOOK).await;
        }
    };
    serve_until_gone(local, File::from_std(input), File::from_std(output), stop, gone)
        .await
        .map_err(failed)
}

#[cfg(unix)]
async fn over_socket(local: LocalServer, path: &Path, stop: impl Future<Output = ()>) -> Result<(), Refusal> {
    let bound = || {
        use std::io::Write;

        let mut stdout = io::stdout();
        // A reader that went away does not stop the server.
        drop(writeln!(stdout, "listening on {}", path.display()).and_then(|()| stdout.flush()));
    };
    crate::local::serve_socket(local, path, bound, stop)
        .await
        .map_err(|error| format!("cannot serve at {}: {error}", path.display()))
}

#[cfg(not(unix))]
async fn over_socket(_: LocalServer, _: &Path, _: impl Future<Output = ()>) -> Result<(), Refusal> {
    Err("this system has no Unix sockets; serve over standard input and output, without --socket".to_owned())
}
