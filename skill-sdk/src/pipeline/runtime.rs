//! The runtime of a host that makes its own.

use std::io;

use tokio::runtime::{Builder, Runtime};

use super::pace;

/// How many threads for what blocks there are beside those of calls: for secrets, states, names of hosts.
const SPARE: usize = 256;

/// More threads than a system gives, and few enough to count on.
const MOST: usize = 1 << 16;

/// A runtime whose futures are polled by so many threads, for so many calls at the same time, each of which may keep a thread
/// of its own.
pub(crate) fn runtime(polling: usize, calls: usize) -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(polling)
        .max_blocking_threads(calls.min(MOST) + SPARE)
        .thread_name("skill-sdk")
        .on_thread_start(pace::mark_thread)
        .enable_all()
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_calls_may_be_the_greatest_there_is() {
        let runtime = runtime(1, usize::MAX).unwrap();
        assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 1)).unwrap(), 1);
    }
}
