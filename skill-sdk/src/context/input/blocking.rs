//! Waiting for an answer on a thread of its own.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The result of `work`, or `None` once `cancelled` is ready. Needs no runtime.
pub(super) fn wait<F: Future>(work: F, cancelled: impl Future<Output = ()>) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let (mut work, mut cancelled) = (pin!(work), pin!(cancelled));
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut cx) {
            return Some(result);
        }
        if cancelled.as_mut().poll(&mut cx).is_ready() {
            return None;
        }
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn, ready};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_result_wins_over_cancellation() {
        assert_eq!(wait(ready(1), ready(())), Some(1));
        assert_eq!(wait(pending::<()>(), ready(())), None);
    }

    #[test]
    fn another_thread_wakes_it() {
        let done = Arc::new(AtomicBool::new(false));
        let work = poll_fn(|cx| {
            if done.load(Ordering::SeqCst) {
                return Poll::Ready(());
            }
            let (done, waker) = (Arc::clone(&done), cx.waker().clone());
            thread::spawn(move || {
                done.store(true, Ordering::SeqCst);
                waker.wake();
            });
            Poll::Pending
        });
        assert_eq!(wait(work, pending()), Some(()));
    }
}
