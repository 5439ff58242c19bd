//! `serve local`.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::fs::File;
use tokio::time::sleep;

use super::{Stop, run, start};
use crate::host::args::ServeLocalArgs;
use crate::host::command::Failure;
use crate::host::logging::LogFormat;
use crate::host::process_group::ProcessGroup;
use crate::host::stdio::ProtocolStdio;
use crate::local::{LocalServer, serve_until_gone};
use crate::pipe::is_peer_closed;

/// How often the server looks whether its caller is gone, once the input ended.
const LOOK: Duration = Duration::from_millis(100);

/// Serves a program on this machine until the input ends or the program is told to stop.
pub(super) fn serve(
    args: &ServeLocalArgs,
    refs: &[String],
    stdio: Option<ProtocolStdio>,
) -> Result<u8, Failure> {
    let group = args
        .parent
        .map(ProcessGroup::lead)
        .transpose()
        .map_err(Failure::usage)?;
    let skills = start(LogFormat::Auto, refs)?;
    let (calls, drain) = (args.limits.concurrency, args.limits.drain);
    let server = LocalServer::new(skills)
        .line_limit(args.line_limit)
        .concurrency(calls)
        .drain(drain);
    let ending = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&ending);
    let last = move || end(group, &ended);
    let code = run((calls, args.limits.workers), drain, last, async |stop| {
        match (stdio, &args.socket) {
            (Some(stdio), _) => over_stdio(server, stdio, group, stop)
                .await
                .map_err(|error| format!("cannot serve: {error}")),
            (None, Some(path)) => over_socket(server, path, stop).await,
            (None, None) => Ok(()),
        }
    });
    end(group, &ending);
    code
}

/// The last step of the server, or of the signal that ends it at once. Only the first caller goes on and ends the program: the end of
/// a group may be a signal to this process as well.
fn end(group: Option<ProcessGroup>, ending: &AtomicBool) {
    while ending.swap(true, Ordering::SeqCst) {
        std::thread::park();
    }
    if let Some(group) = group {
        group.end();
    }
}

async fn over_stdio(
    server: LocalServer,
    stdio: ProtocolStdio,
    group: Option<ProcessGroup>,
    stop: Stop,
) -> io::Result<()> {
    let ProtocolStdio { input, output } = stdio;
    let probe = output.try_clone()?;
    let gone = async move {
        while !is_peer_closed(&probe) && !group.is_some_and(ProcessGroup::lost_its_parent) {
            sleep(LOOK).await;
        }
    };
    serve_until_gone(server, File::from_std(input), File::from_std(output), stop, gone).await
}

#[cfg(unix)]
async fn over_socket(server: LocalServer, path: &Path, stop: Stop) -> Result<(), String> {
    crate::local::serve_socket(
        server,
        path,
        || super::announce(format_args!("listening on {}", path.display())),
        stop,
    )
    .await
    .map_err(|error| format!("cannot serve at {}: {error}", path.display()))
}

#[cfg(not(unix))]
async fn over_socket(_: LocalServer, _: &Path, _: Stop) -> Result<(), String> {
    Err("this system has no Unix sockets; serve over standard input and output, without --socket".to_owned())
}
