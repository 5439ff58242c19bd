//! How long asynchronous skills keep the threads that poll them.
//!
//! What a skill computes between two awaits keeps a thread of the runtime, and all that waits for this thread: other calls,
//! probes, the signal to stop. So a skill that was seen to do that for long runs on threads of its own, as one that is no
//! `async fn` does, and so does one that was hardly seen yet. A poll that goes on for long is seen before its end, which may never
//! come. All others pay two looks at the clock, and two writes that say when a poll began and that it is over. This is for
//! runtimes that the SDK made itself: only these surely have a thread for each call, and nothing of an author's own around it.

use std::cell::Cell;
use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
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

/// Longer than a thread waits for its turn on a system that is busy: the skill itself is slow.
const TOO_LONG: Duration = Duration::from_millis(250);

/// How many quick calls it takes to be trusted: at first, and after a slow one on a thread that was not its own, or one that was
/// too slow on any.
const UNSEEN: u32 = 16;
const SLOW: u32 = 100;

/// How many more of them after a slow one on a thread of its own. Few, since a system that is busy takes threads away from
/// quick calls as well: a skill is trusted again when fewer than one in so many are slow.
const SLOW_APART: u32 = 10;

/// How many polls of a skill are watched at the same time while they go on. Quick ones leave soon, so there is room for one that
/// does not.
const SEEN_AT_ONCE: usize = 4;

/// What is known of one skill.
#[derive(Debug)]
pub(super) struct Pace {
    /// How many calls have to be quick on threads of their own before the next ones run on those of the runtime.
    apart: AtomicU32,
    /// When polls that go on began, as [`time_of`] says it; 0 where there is none.
    polls: [AtomicU64; SEEN_AT_ONCE],
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            apart: AtomicU32::new(UNSEEN),
            polls: Default::default(),
        }
    }
}

impl Pace {
    /// The runtime that is to give the next call a thread of its own.
    pub(super) fn apart(&self) -> Option<Handle> {
        (IS_OURS.get() && (self.is_apart() || self.hangs())).then(Handle::current)
    }

    fn is_apart(&self) -> bool {
        self.apart.load(Ordering::Relaxed) > 0
    }

    /// Whether a poll goes on for long.
    fn hangs(&self) -> bool {
        let began = |poll: &AtomicU64| Some(poll.load(Ordering::Relaxed)).filter(|began| *began > 0);
        let first = self.polls.iter().filter_map(began).min();
        first.is_some_and(|began| time_of(Instant::now()).saturating_sub(began) > time(LONG))
    }

    /// A poll begins, which is watched until what is returned is dropped, if there is room.
    fn begins(&self, began: Instant) -> Option<Ongoing<'_>> {
        let began = time_of(began);
        let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
        let takes = |poll: &&AtomicU64| poll.compare_exchange(0, began, set, fetch).is_ok();
        self.polls.iter().find(takes).map(Ongoing)
    }

    fn was_slow(&self, took: Duration) {
        self.change(|calls| match calls {
            0 => SLOW,
            _ if took > TOO_LONG => SLOW,
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

/// A poll that goes on.
struct Ongoing<'a>(&'a AtomicU64);

impl Drop for Ongoing<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// A moment as a number that is never 0.
fn time_of(moment: Instant) -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    time(moment.saturating_duration_since(*START)).max(1)
}

fn time(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
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
        let this = &mut *self;
        let polled = {
            let _ongoing = IS_OURS.get().then(|| this.pace.begins(began));
            Pin::new(&mut this.call).poll(cx)
        };
        let took = began.elapsed();
        if took > LONG {
            self.was_quick = false;
            self.pace.was_slow(took);
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
        pace.was_slow(LONG);
        assert_eq!(quick_calls(&pace), SLOW);
        pace.was_slow(LONG);
        pace.was_slow(LONG);
        assert_eq!(quick_calls(&pace), SLOW, "never more");
        let unseen = Pace::default();
        unseen.was_slow(LONG);
        assert_eq!(quick_calls(&unseen), UNSEEN + SLOW_APART);
        let unseen = Pace::default();
        unseen.was_slow(2 * TOO_LONG);
        assert_eq!(quick_calls(&unseen), SLOW, "no busy system explains that");
    }

    /// Looks until the skill is seen to hang, as long as a test waits for what should come at once.
    fn seen_to_hang(pace: &Pace) -> bool {
        let began = Instant::now();
        while !pace.hangs() {
            if began.elapsed() > Duration::from_mins(1) {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    #[test]
    fn a_poll_that_does_not_end_is_seen() {
        let pace = Pace::default();
        quick_calls(&pace);
        std::thread::scope(|scope| {
            // One that waits, and quick ones beside it, leave room for one that hangs.
            let mut waiting = Box::pin(watched(&pace, std::future::pending::<()>()));
            let (go_on, hanging) = std::sync::mpsc::channel::<()>();
            let hangs = scope.spawn({
                let pace = &pace;
                move || {
                    mark_thread();
                    let call = std::future::poll_fn(|_| Poll::Ready(hanging.recv().is_err()));
                    let mut cx = Context::from_waker(Waker::noop());
                    assert!(pin!(watched(pace, call)).poll(&mut cx).is_ready());
                }
            });
            scope.spawn(move || {
                mark_thread();
                let mut cx = Context::from_waker(Waker::noop());
                for _ in 0..100 {
                    assert!(waiting.as_mut().poll(&mut cx).is_pending());
                }
            });
            assert!(seen_to_hang(&pace));
            drop(go_on);
            hangs.join().unwrap();
        });
        assert!(!pace.hangs(), "it ended");
        assert!(pace.is_apart(), "and was slow");
    }

    #[test]
    fn more_polls_than_are_watched_are_no_news() {
        let pace = Pace::default();
        let ongoing: Vec<_> = (0..=SEEN_AT_ONCE).map(|_| pace.begins(Instant::now())).collect();
        assert_eq!(ongoing.iter().flatten().count(), SEEN_AT_ONCE);
        drop(ongoing);
        assert!(pace.begins(Instant::now()).is_some());
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
