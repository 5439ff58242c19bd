//! Threads of skills that go on although their calls are over.
//!
//! The code of an author cannot be ended from outside. A synchronous skill that does not look at its context keeps its
//! thread after its time is up or its caller went away, and whoever admits calls must know: else each such call would make
//! room for the next one, until there are no threads left for anybody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many threads go on. Cheap to clone; all clones count the same.
#[derive(Debug, Clone, Default)]
pub(crate) struct Abandoned {
    count: Arc<AtomicUsize>,
    /// Where the threads are counted as well.
    whole: Option<Arc<AtomicUsize>>,
}

impl Abandoned {
    /// A part of these that is counted by itself.
    pub(crate) fn part(&self) -> Self {
        Self {
            count: Arc::default(),
            whole: Some(Arc::clone(&self.count)),
        }
    }

    #[cfg(feature = "http")]
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    fn counts(&self) -> impl Iterator<Item = &AtomicUsize> {
        self.whole.iter().chain([&self.count]).map(AsRef::as_ref)
    }

    /// Watches a call and its thread, of which either may be over first.
    pub(super) fn watch(&self) -> (OfCall, OfThread) {
        let watched = Arc::new(Watched {
            abandoned: self.clone(),
            one_is_over: AtomicBool::new(false),
        });
        (OfCall(Arc::clone(&watched)), OfThread(watched))
    }
}

#[derive(Debug)]
struct Watched {
    abandoned: Abandoned,
    one_is_over: AtomicBool,
}

/// Dropped when the call is over. Belongs before its place is given back, so that nobody sees a thread in neither.
#[derive(Debug)]
pub(super) struct OfCall(Arc<Watched>);

impl Drop for OfCall {
    fn drop(&mut self) {
        let Watched {
            abandoned,
            one_is_over,
        } = &*self.0;
        // Nearly all threads are over first.
        if one_is_over.load(Ordering::Acquire) {
            return;
        }
        // Before the mark: the thread counts itself out when it finds it.
        for count in abandoned.counts() {
            count.fetch_add(1, Ordering::AcqRel);
        }
        if one_is_over.swap(true, Ordering::AcqRel) {
            leave(abandoned);
        }
    }
}

/// Dropped when the thread is over, or will never begin.
#[derive(Debug)]
pub(super) struct OfThread(Arc<Watched>);

impl Drop for OfThread {
    fn drop(&mut self) {
        if self.0.one_is_over.swap(true, Ordering::AcqRel) {
            leave(&self.0.abandoned);
        }
    }
}

fn leave(abandoned: &Abandoned) {
    for count in abandoned.counts() {
        count.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_outlive_their_calls_are_counted() {
        let host = Abandoned::default();
        let skill = host.part();
        let counts = || (host.count(), skill.count());
        let (call, thread) = skill.watch();
        drop(thread);
        drop(call);
        assert_eq!(counts(), (0, 0), "the usual case");
        let (first, second) = (skill.watch(), host.part().watch());
        drop(first.0);
        assert_eq!(counts(), (1, 1));
        drop(second.0);
        assert_eq!(counts(), (2, 1), "the other one is another skill's");
        drop(first.1);
        assert_eq!(counts(), (1, 0));
        drop(second.1);
        assert_eq!(counts(), (0, 0));
    }
}
