//! The runtime on which a host runs its calls.

use std::thread::available_parallelism;

use tokio::runtime::Runtime;

use super::Refusal;

/// The fewest threads that poll where a client has no other host to go to while skills that were quick so far keep some.
pub(super) const LEAST: usize = 4;

/// A runtime for so many calls at the same time.
///
/// It polls with one thread for each core, or with `least`: more of them take turns on it, which costs a quick call more than all
/// that the host does for it.
pub(super) fn runtime(calls: usize, least: usize) -> Result<Runtime, Refusal> {
    let cores = available_parallelism().map_or(1, usize::from);
    crate::pipeline::runtime(cores.max(least), calls)
        .map_err(|error| format!("cannot start the runtime: {error}"))
}
