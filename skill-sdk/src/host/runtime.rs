//! The runtime on which a host runs its calls.

use std::thread::available_parallelism;

use tokio::runtime::Runtime;

use super::Refusal;

/// A runtime for so many calls at the same time.
///
/// It polls with one thread for each core: more of them would take turns on it, which costs a quick call more than all that
/// the host does for it.
pub(super) fn runtime(calls: usize) -> Result<Runtime, Refusal> {
    let cores = available_parallelism().map_or(1, usize::from);
    crate::pipeline::runtime(cores, calls).map_err(|error| format!("cannot start the runtime: {error}"))
}
