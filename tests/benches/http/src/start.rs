//! How the servers start: pinned to a core, one worker, the address on standard output.

use std::future::Future;
use std::io::{self, Write};
use std::net::SocketAddr;

use rustix::thread::{CpuSet, sched_setaffinity};
use tokio::net::TcpListener;

/// The variable that names the core to run on; without it the system chooses.
pub const CORE: &str = "BENCH_CORE";

/// Runs a program on the core that it was given, with one worker, as the skills of one core would run.
pub fn run<F: Future<Output = io::Result<()>>>(program: F) -> io::Result<()> {
    pin()?;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?
        .block_on(program)
}

/// Keeps this process on the core that the environment names.
pub fn pin() -> io::Result<()> {
    let Some(core) = std::env::var(CORE).ok().and_then(|core| core.parse().ok()) else {
        return Ok(());
    };
    pin_to(core)
}

/// Keeps this process on a core.
pub fn pin_to(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Says where the server listens.
pub fn announce(address: SocketAddr) {
    let mut stdout = io::stdout();
    // The driver that reads this line is what the server is there for.
    drop(writeln!(stdout, "listening on http://{address}").and_then(|()| stdout.flush()));
}

/// A listener on any free port of the loopback address.
pub async fn listen() -> io::Result<TcpListener> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    announce(listener.local_addr()?);
    Ok(listener)
}
