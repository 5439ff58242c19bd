//! The runtime on which a host runs its calls.

use std::thread::available_parallelism;

use tokio::runtime::Runtime;

use super::Refusal;

/// The fewest threads that poll where calls may ask the user: these calls get no threads of their own, and some may keep theirs.
#[cfg(feature = "mcp")]
pub(super) const ASKING: usize = 4;

/// A runtime for so many calls at the same time.
///
/// It polls with one thread for each core, or with `least`: more of them take turns on it, which costs a quick call more than all
/// that the host does for it.
pub(super) fn runtime(calls: usize, least: usize) -> Result<Runtime, Refusal> {
    let cores = available_parallelism().map_or(1, usize::from);
    crate::pipeline::runtime(cores.max(least), calls)
        .map_err(|error| format!("cannot start the runtime: {error}"))
}
