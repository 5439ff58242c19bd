//! Async functions that block.
//!
//! What an `async fn` computes between two awaits blocks a worker thread of the runtime and all that waits for it. So every poll
//! is timed; a long one is logged with the name of the skill and counted.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use super::Runnable;

/// How long a poll may take before it is logged.
const LONG: Duration = Duration::from_millis(100);

/// The future of a skill, whose polls are timed.
pub(super) struct Timed<'a, F> {
    pub(super) runnable: &'a Runnable,
    pub(super) future: F,
}

impl<F: Future + Unpin> Future for Timed<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let began = Instant::now();
        let polled = Pin::new(&mut self.future).poll(cx);
        let took = began.elapsed();
        if took > LONG {
            self.runnable.count_slow_poll();
            tracing::warn!(
                skill = self.runnable.skill().reference(),
                milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                "an `async fn` blocked its thread: declare the skill as a plain `fn`, or move what blocks to `spawn_blocking`"
            );
        }
        polled
    }
}
