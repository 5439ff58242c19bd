//! The runtime of a host that makes its own.

use std::io;
use std::thread::available_parallelism;

use tokio::runtime::{Builder, Runtime};

/// How many threads for what blocks there are beside those of calls: for secrets, states, names of hosts.
const SPARE: usize = 256;

/// The fewest worker threads: an `async fn` that blocks must not silence a server on a small machine at once.
const MIN_WORKERS: usize = 4;

/// More threads than a system gives, and few enough to count on.
const MOST: usize = 1 << 16;

/// A runtime for so many calls at the same time, each of which may keep a thread of its own, with so many worker threads: by
/// default one for each core, but not fewer than 4.
pub(crate) fn runtime(calls: usize, workers: Option<usize>) -> io::Result<Runtime> {
    let cores = || available_parallelism().map_or(1, usize::from);
    Builder::new_multi_thread()
        .worker_threads(workers.unwrap_or_else(|| cores().max(MIN_WORKERS)))
        .max_blocking_threads(calls.min(MOST) + SPARE)
        .thread_name("skill-sdk")
        .enable_all()
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_calls_may_be_the_greatest_there_is() {
        let runtime = runtime(usize::MAX, Some(1)).unwrap();
        assert_eq!(runtime.metrics().num_workers(), 1);
        assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 1)).unwrap(), 1);
    }
}
