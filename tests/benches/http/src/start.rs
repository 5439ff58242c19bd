//! Starts a server: one core, one worker thread, the address on standard output.

use std::future::Future;
use std::io::{self, Write};
use std::net::SocketAddr;

use rustix::thread::{CpuSet, sched_setaffinity};
use tokio::net::TcpListener;

/// The environment variable with the core to run on. If it is not set, the system chooses.
pub const CORE: &str = "BENCH_CORE";

/// Runs a program on its core with one worker thread, as a single-core deployment would.
pub fn run<F: Future<Output = io::Result<()>>>(program: F) -> io::Result<()> {
    pin()?;
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?
        .block_on(program)
}

/// Pins this process to the core that the environment names.
pub fn pin() -> io::Result<()> {
    let Some(core) = std::env::var(CORE).ok().and_then(|core| core.parse().ok()) else {
        return Ok(());
    };
    pin_to(core)
}

/// Pins this process to a core.
pub fn pin_to(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Prints the address of the server.
pub fn announce(address: SocketAddr) {
    let mut stdout = io::stdout();
    // The driver waits for this line.
    drop(writeln!(stdout, "listening on http://{address}").and_then(|()| stdout.flush()));
}

/// A listener on any free port of the loopback address.
pub async fn listen() -> io::Result<TcpListener> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    announce(listener.local_addr()?);
    Ok(listener)
}
