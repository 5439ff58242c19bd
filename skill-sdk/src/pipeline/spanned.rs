//! Running a call in its span.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tracing::Span;

/// Runs `work` inside of the span, and drops it there as well.
///
/// As `tracing::Instrument`, which enters the span once more to drop what has ended already.
pub(super) async fn within<F: Future>(span: Span, work: F) -> F::Output {
    let work = pin!(Some(work));
    let mut spanned = Spanned { span: &span, work };
    poll_fn(|cx| spanned.poll(cx)).await
}

struct Spanned<'a, F> {
    span: &'a Span,
    /// `None` once it ended.
    work: Pin<&'a mut Option<F>>,
}

impl<F: Future> Spanned<'_, F> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _inside = self.span.enter();
        let Some(work) = self.work.as_mut().as_pin_mut() else {
            return Poll::Pending;
        };
        let polled = work.poll(cx);
        if polled.is_ready() {
            self.work.set(None);
        }
        polled
    }
}

impl<F> Drop for Spanned<'_, F> {
    fn drop(&mut self) {
        if self.work.is_some() {
            let _inside = self.span.enter();
            self.work.set(None);
        }
    }
}
