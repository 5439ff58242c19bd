//! How long asynchronous skills keep the threads that poll them.
//!
//! What a skill computes between two awaits keeps a thread of the runtime, and all that waits for this thread: other calls,
//! probes, the signal to stop. So a skill that was seen to do that for long runs on threads of its own, as one that is no
//! `async fn` does, and so does one that nobody has seen yet. All others pay a look at the clock.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};

/// How long a skill may keep a thread of the runtime. A system that is busy takes a thread away for less.
const LONG: Duration = Duration::from_millis(10);

/// How many quick calls it takes until one that was not is forgotten.
const PROBATION: u32 = 100;

/// What is known of one skill.
#[derive(Debug)]
pub(super) struct Pace {
    /// How many calls have to be quick on threads of their own before the next ones run on those of the runtime.
    apart: AtomicU32,
}

impl Default for Pace {
    /// Nobody has seen it yet.
    fn default() -> Self {
        Self {
            apart: AtomicU32::new(1),
        }
    }
}

impl Pace {
    /// The runtime that is to give the next call a thread of its own. A runtime of one thread has nobody to keep up but itself,
    /// and its clock may be one that stands still while other threads work.
    pub(super) fn apart(&self) -> Option<Handle> {
        if self.apart.load(Ordering::Relaxed) == 0 {
            return None;
        }
        Handle::try_current()
            .ok()
            .filter(|runtime| runtime.runtime_flavor() != RuntimeFlavor::CurrentThread)
    }

    /// Runs a call and sees how long it keeps its thread.
    pub(super) async fn watch<F: Future>(&self, call: F) -> F::Output {
        let mut call = pin!(call);
        let mut was_quick = true;
        poll_fn(|cx| {
            let began = Instant::now();
            let polled = call.as_mut().poll(cx);
            if began.elapsed() > LONG {
                was_quick = false;
                self.apart.store(PROBATION, Ordering::Relaxed);
            }
            if let Poll::Ready(_) = polled
                && was_quick
            {
                self.was_quick();
            }
            polled
        })
        .await
    }

    fn was_quick(&self) {
        if self.apart.load(Ordering::Relaxed) > 0 {
            let less = |calls: u32| calls.checked_sub(1);
            // Others were first, and nothing is left to count.
            let _ = self
                .apart
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Builder;
    use tokio::task::yield_now;

    use super::*;

    /// Keeps its thread in its second half.
    async fn slow() {
        yield_now().await;
        let began = Instant::now();
        while began.elapsed() <= LONG {
            std::hint::spin_loop();
        }
    }

    /// As many polls as the slow one.
    async fn quick() {
        yield_now().await;
    }

    #[test]
    fn a_skill_runs_apart_until_it_is_known_to_be_quick() {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(async {
            let pace = Pace::default();
            assert!(pace.apart().is_some(), "nobody has seen it");
            pace.watch(quick()).await;
            assert!(pace.apart().is_none());
            pace.watch(slow()).await;
            for call in 0..PROBATION {
                assert!(pace.apart().is_some(), "after {call} quick calls");
                pace.watch(quick()).await;
            }
            assert!(pace.apart().is_none());
            pace.watch(quick()).await;
            assert!(pace.apart().is_none());
        });
    }

    #[test]
    fn a_call_that_is_given_up_proves_nothing() {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(async {
            let pace = Pace::default();
            {
                let mut given_up = pin!(pace.watch(std::future::pending::<()>()));
                let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
                assert!(given_up.as_mut().poll(&mut cx).is_pending());
            }
            assert!(pace.apart().is_some());
        });
    }

    #[test]
    fn a_runtime_of_one_thread_has_none_to_give() {
        let pace = Pace::default();
        assert!(pace.apart().is_none(), "there is no runtime");
        let runtime = Builder::new_current_thread().build().unwrap();
        assert!(runtime.block_on(async { pace.apart() }).is_none());
    }
}
