//! The runtime on which a host runs its calls.

use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

use super::Refusal;

/// How many threads for what blocks there are beside those of calls: for secrets, resources, names of hosts.
const SPARE: usize = 256;

/// More threads than any system gives, and few enough to count on.
const MOST: usize = 1 << 20;

/// A runtime for so many calls at the same time, each of which may keep a thread of its own.
///
/// It polls with one thread for each core: more of them would take turns on it, which costs a quick call more than all that
/// the host does for it.
pub(super) fn runtime(calls: usize) -> Result<Runtime, Refusal> {
    Builder::new_multi_thread()
        .worker_threads(available_parallelism().map_or(1, usize::from))
        .max_blocking_threads(calls.min(MOST) + SPARE)
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the runtime: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_calls_may_be_the_greatest_there_is() {
        let runtime = runtime(usize::MAX).unwrap();
        assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 1)).unwrap(), 1);
    }
}
