//! Running a call in its span.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tracing::Span;

/// Runs `work` inside of the span, and drops it there as well.
///
/// As `tracing::Instrument`, which enters the span once more to drop what has ended already. The caller has the room for the work,
/// so that it is there once only.
pub(super) fn within<'a, F>(span: &'a Span, work: Pin<&'a mut Option<F>>) -> Spanned<'a, F> {
    Spanned { span, work }
}

/// See [`within`].
pub(super) struct Spanned<'a, F> {
    span: &'a Span,
    /// `None` once it ended.
    work: Pin<&'a mut Option<F>>,
}

impl<F: Future> Future for Spanned<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
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
