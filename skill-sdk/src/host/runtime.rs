//! The runtime on which a host runs its calls.

use tokio::runtime::{Builder, Runtime};

use super::Refusal;

/// The fewest threads that futures run on: a body that does not yield keeps one of them.
const MIN_THREADS: usize = 8;

/// How many threads for what blocks there are beside those of calls: for secrets, resources, names of hosts.
const SPARE: usize = 256;

/// A runtime for so many calls at the same time, each of which may keep a thread of its own.
pub(super) fn runtime(calls: usize) -> Result<Runtime, Refusal> {
    let threads = std::thread::available_parallelism().map_or(MIN_THREADS, usize::from);
    Builder::new_multi_thread()
        .worker_threads(threads.max(MIN_THREADS))
        .max_blocking_threads(calls.saturating_add(SPARE))
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the runtime: {error}"))
}
