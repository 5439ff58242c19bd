//! Waits for a future on a thread that may block.

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

/// The result of `work`. Does not need a runtime.
pub(super) fn wait<F: Future>(work: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut work = pin!(work);
    loop {
        if let Poll::Ready(result) = work.as_mut().poll(&mut cx) {
            return result;
        }
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use std::future::{poll_fn, ready};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn a_ready_future_does_not_block() {
        assert_eq!(wait(ready(1)), 1);
    }

    #[test]
    fn another_thread_can_wake_it() {
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
        wait(work);
    }
}
