//! How long asynchronous skills keep the threads that poll them.
//!
//! What a skill computes between two awaits keeps a thread of the runtime, and all that waits for this thread: other calls,
//! probes, the signal to stop. So a skill that was seen to do that for long runs on threads of its own, as one that is no
//! `async fn` does, and so does one that was hardly seen yet. All others pay two looks at the clock. This is for runtimes that
//! the SDK made itself: only these surely have a thread for each call, and nothing of an author's own around it.

use std::cell::Cell;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

thread_local! {
    static IS_OURS: Cell<bool> = const { Cell::new(false) };
}

/// Marks a thread of a runtime that has a thread for each call.
pub(super) fn mark_thread() {
    IS_OURS.set(true);
}

/// How long a skill may keep a thread of the runtime.
const LONG: Duration = Duration::from_millis(10);

/// How many quick calls it takes to be trusted: at first, and after a slow one on a thread that was not its own.
const UNSEEN: u32 = 16;
const SLOW: u32 = 100;

/// How many more of them after a slow one on a thread of its own. Few, since a system that is busy takes threads away from
/// quick calls as well: a skill is trusted again when fewer than one in so many are slow.
const SLOW_APART: u32 = 10;

/// What is known of one skill.
#[derive(Debug)]
pub(super) struct Pace {
    /// How many calls have to be quick on threads of their own before the next ones run on those of the runtime.
    apart: AtomicU32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            apart: AtomicU32::new(UNSEEN),
        }
    }
}

impl Pace {
    /// The runtime that is to give the next call a thread of its own.
    pub(super) fn apart(&self) -> Option<Handle> {
        (self.is_apart() && IS_OURS.get()).then(Handle::current)
    }

    fn is_apart(&self) -> bool {
        self.apart.load(Ordering::Relaxed) > 0
    }

    fn was_slow(&self) {
        self.change(|calls| match calls {
            0 => SLOW,
            calls => calls.saturating_add(SLOW_APART).min(SLOW),
        });
    }

    fn was_quick(&self) {
        self.change(|calls| calls.saturating_sub(1));
    }

    fn change(&self, change: impl Fn(u32) -> u32) {
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        // There is always a next number.
        let _ = self.apart.fetch_update(set, fetch, |calls| Some(change(calls)));
    }
}

/// The call, watched for how long it keeps its thread.
pub(super) fn watched<P, F>(pace: P, call: F) -> Watched<P, F> {
    Watched {
        pace,
        call,
        was_quick: true,
    }
}

/// See [`watched`]. Written out, since a future in a future in a future takes more room than what it does.
pub(super) struct Watched<P, F> {
    pace: P,
    call: F,
    was_quick: bool,
}

impl<P, F> Future for Watched<P, F>
where
    P: Deref<Target = Pace> + Unpin,
    F: Future + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let began = Instant::now();
        let polled = Pin::new(&mut self.call).poll(cx);
        if began.elapsed() > LONG {
            self.was_quick = false;
            self.pace.was_slow();
        }
        if polled.is_ready() && self.was_quick && self.pace.is_apart() {
            self.pace.was_quick();
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Waker;

    use tokio::runtime::Builder;
    use tokio::task::yield_now;

    use super::*;

    /// Quick calls until the skill is trusted.
    fn quick_calls(pace: &Pace) -> u32 {
        let mut calls = 0;
        while pace.is_apart() {
            pace.was_quick();
            calls += 1;
        }
        calls
    }

    #[test]
    fn a_skill_is_trusted_after_quick_calls() {
        let pace = Pace::default();
        assert_eq!(quick_calls(&pace), UNSEEN, "hardly seen");
        pace.was_quick();
        assert!(!pace.is_apart());
        pace.was_slow();
        assert_eq!(quick_calls(&pace), SLOW);
        pace.was_slow();
        pace.was_slow();
        assert_eq!(quick_calls(&pace), SLOW, "never more");
        let unseen = Pace::default();
        unseen.was_slow();
        assert_eq!(quick_calls(&unseen), UNSEEN + SLOW_APART);
    }

    #[tokio::test]
    async fn one_long_poll_makes_a_call_slow() {
        let pace = Pace::default();
        watched(
            &pace,
            Box::pin(async {
                yield_now().await;
                let began = Instant::now();
                while began.elapsed() <= LONG {
                    std::hint::spin_loop();
                }
                yield_now().await;
            }),
        )
        .await;
        assert!(quick_calls(&pace) >= UNSEEN + SLOW_APART);
    }

    #[test]
    fn a_call_that_is_given_up_proves_nothing() {
        let pace = Pace::default();
        {
            let mut given_up = pin!(watched(&pace, std::future::pending::<()>()));
            let mut cx = Context::from_waker(Waker::noop());
            assert!(given_up.as_mut().poll(&mut cx).is_pending());
        }
        assert!(quick_calls(&pace) >= UNSEEN);
    }

    #[test]
    fn only_our_threads_have_others_to_give() {
        let is_apart = |runtime: Builder| {
            let runtime = { runtime }.worker_threads(1).build().unwrap();
            let asked = runtime.spawn(async { Pace::default().apart().is_some() });
            runtime.block_on(asked).unwrap()
        };
        assert!(!is_apart(Builder::new_multi_thread()));
        let mut ours = Builder::new_multi_thread();
        ours.on_thread_start(mark_thread);
        assert!(is_apart(ours));
        assert!(Pace::default().apart().is_none(), "there is no runtime");
    }
}
