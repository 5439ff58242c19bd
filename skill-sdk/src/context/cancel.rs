//! Telling a call that nobody waits for it any more, and those who wait for something that it ended.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

/// The flag of one call, and who waits for it.
#[derive(Clone, Default)]
pub(crate) struct Cancellation(Arc<State>);

#[derive(Default)]
struct State {
    cancelled: AtomicBool,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    wakers: BTreeMap<u64, Waker>,
}

impl Cancellation {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    pub(crate) fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::Release);
        let wakers = std::mem::take(&mut self.waiting().wakers);
        wakers.into_values().for_each(Waker::wake);
    }

    pub(crate) fn cancelled(&self) -> Cancelled {
        Cancelled {
            cancellation: self.clone(),
            key: None,
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Resolves when nobody waits for the call any more.
#[must_use = "a future does nothing unless it is awaited"]
pub struct Cancelled {
    cancellation: Cancellation,
    /// Under which key the waker is registered.
    key: Option<u64>,
}

impl Future for Cancelled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let cancellation = self.cancellation.clone();
        let waker = cx.waker().clone();
        let mut waiting = cancellation.waiting();
        // Looked at under the lock: `cancel` sets the flag before it takes the lock to wake.
        if cancellation.is_cancelled() {
            return Poll::Ready(());
        }
        let key = *self.key.get_or_insert_with(|| {
            waiting.next += 1;
            waiting.next
        });
        let replaced = waiting.wakers.insert(key, waker);
        // Dropping a waker may drop a task with all that it holds, which may look at this call again.
        drop(waiting);
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            let removed = self.cancellation.waiting().wakers.remove(&key);
            drop(removed);
        }
    }
}

impl fmt::Debug for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cancelled")
            .field("is_cancelled", &self.cancellation.is_cancelled())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Flag(AtomicBool);

    impl Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    #[test]
    fn everybody_who_waits_is_woken() {
        let cancellation = Cancellation::default();
        let flags = [Arc::new(Flag::default()), Arc::new(Flag::default())];
        let mut futures = [pin!(cancellation.cancelled()), pin!(cancellation.cancelled())];
        for (future, flag) in futures.iter_mut().zip(&flags) {
            let waker = Waker::from(Arc::clone(flag));
            assert!(
                future
                    .as_mut()
                    .poll(&mut Context::from_waker(&waker))
                    .is_pending()
            );
        }
        cancellation.cancel();
        for (future, flag) in futures.iter_mut().zip(&flags) {
            assert!(flag.0.load(Ordering::SeqCst));
            let mut cx = Context::from_waker(Waker::noop());
            assert!(future.as_mut().poll(&mut cx).is_ready());
        }
    }

    /// A waker that looks at the call when it is dropped, as a runtime may drop the task that it belongs to.
    struct Looks(Cancellation, Arc<AtomicBool>);

    impl Wake for Looks {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for Looks {
        fn drop(&mut self) {
            let free = self.0.0.waiting.try_lock().is_ok();
            self.1.store(free, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_waker_is_dropped_while_nothing_is_locked() {
        let cancellation = Cancellation::default();
        let looks = || {
            let free = Arc::new(AtomicBool::new(false));
            let waker = Waker::from(Arc::new(Looks(cancellation.clone(), Arc::clone(&free))));
            (waker, free)
        };
        let ((first, replaced), (second, removed)) = (looks(), looks());
        let mut future = Box::pin(cancellation.cancelled());
        for waker in [first, second] {
            assert!(
                future
                    .as_mut()
                    .poll(&mut Context::from_waker(&waker))
                    .is_pending()
            );
        }
        assert!(replaced.load(Ordering::SeqCst), "another waker took its place");
        drop(future);
        assert!(removed.load(Ordering::SeqCst), "nobody waits any more");
    }

    #[test]
    fn a_dropped_future_leaves_nothing_behind() {
        let cancellation = Cancellation::default();
        {
            let mut future = pin!(cancellation.cancelled());
            let mut cx = Context::from_waker(Waker::noop());
            assert!(future.as_mut().poll(&mut cx).is_pending());
            assert_eq!(cancellation.waiting().wakers.len(), 1);
        }
        assert!(cancellation.waiting().wakers.is_empty());
    }
}
