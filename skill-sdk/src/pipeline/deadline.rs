//! Running under the deadline of a call.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::task::unconstrained;
use tokio::time::sleep;

use crate::context::SkillContext;
use crate::error::SkillError;

/// The result of `work`, or the retryable failure `timeout` once the time of the call is up.
pub(super) async fn within<F: Future>(context: &SkillContext, work: F) -> Result<F::Output, SkillError> {
    timed(|| context.remaining(), work)
        .await
        .ok_or_else(|| context.timeout())
}

/// The result of `work`; `None` once its time is up.
///
/// Most work never waits. So there is a timer only from the moment on when it first does, and only then `remaining` is
/// asked how much time there is.
pub(crate) async fn timed<F: Future>(remaining: impl Fn() -> Option<Duration>, work: F) -> Option<F::Output> {
    let mut work = pin!(work);
    let mut timer = pin!(None);
    poll_fn(|cx| {
        if let Poll::Ready(output) = work.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        if timer.is_none()
            && let Some(remaining) = remaining()
        {
            // Work that used up what tokio gives a task at a time must not hold up the clock.
            timer.set(Some(unconstrained(sleep(remaining))));
        }
        match timer.as_mut().as_pin_mut() {
            Some(timer) => timer.poll(cx).map(|()| None),
            None => Poll::Pending,
        }
    })
    .await
}
