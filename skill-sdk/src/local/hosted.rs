//! What is hosted, and how long each skill keeps the thread that calls it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use crate::pipeline::{Abandoned, Runnable, SkillSet};

/// A skill that keeps its thread longer than this is not called on a thread that reads.
const QUICK: Duration = Duration::from_micros(150);

/// Longer than this it keeps the next lines as well, so one such call is enough. A system that is busy makes some look so.
const SLOW: Duration = Duration::from_millis(2);

/// After so many calls a slow skill gets another chance.
const PROBATION: u32 = 256;

/// A hosted skill.
pub(super) struct Hosted {
    pub(super) runnable: Arc<Runnable>,
    /// Calls until the skill may run on a thread that reads again; 0: it may.
    probation: AtomicU32,
    /// Slow calls in a row.
    strikes: AtomicU32,
}

impl Hosted {
    /// Whether the next call is expected to keep its thread for no longer than handing it over would take.
    pub(super) fn is_quick(&self) -> bool {
        let left = self.probation.load(Ordering::Relaxed);
        if left == 0 {
            return true;
        }
        // Counting need not be exact.
        self.probation.store(left - 1, Ordering::Relaxed);
        false
    }

    /// Notes how long a call kept its thread.
    pub(super) fn note(&self, kept: Duration) {
        if kept <= QUICK {
            if self.strikes.load(Ordering::Relaxed) != 0 {
                self.strikes.store(0, Ordering::Relaxed);
            }
            return;
        }
        let strikes = self.strikes.fetch_add(1, Ordering::Relaxed);
        if kept > SLOW || strikes >= 2 {
            self.strikes.store(0, Ordering::Relaxed);
            self.probation.store(PROBATION, Ordering::Relaxed);
        }
    }
}

/// All hosted skills by their refs.
pub(super) fn table(host: &SkillSet) -> HashMap<String, Arc<Hosted>> {
    host.iter()
        .filter_map(|runnable| {
            let reference = runnable.skill().reference();
            let hosted = Hosted {
                runnable: Arc::clone(host.get(reference)?),
                probation: AtomicU32::new(0),
                strikes: AtomicU32::new(0),
            };
            Some((reference.to_owned(), Arc::new(hosted)))
        })
        .collect()
}

/// How many calls run.
pub(super) struct Load {
    running: AtomicUsize,
    limit: usize,
    /// Threads that calls left behind. They keep the places of their calls.
    abandoned: Abandoned,
}

impl Load {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            running: AtomicUsize::new(0),
            limit,
            abandoned: Abandoned::default(),
        }
    }

    /// Threads that calls left behind.
    pub(super) fn abandoned(&self) -> &Abandoned {
        &self.abandoned
    }

    /// Whether calls that may only look slow can be handed over: they must not take the places of others. Where they cannot,
    /// each keeps the lines behind it until another thread takes the turn.
    pub(super) fn has_room(&self) -> bool {
        let taken = self.running.load(Ordering::Relaxed);
        let taken = taken.saturating_add(self.abandoned.count());
        taken.saturating_mul(2) <= self.limit
    }

    /// One more, unless there are too many.
    pub(super) fn take(self: &Arc<Self>) -> Option<Running> {
        let before = self.running.fetch_add(1, Ordering::AcqRel);
        if before.saturating_add(self.abandoned.count()) >= self.limit {
            self.running.fetch_sub(1, Ordering::AcqRel);
            return None;
        }
        Some(Running(Arc::clone(self)))
    }
}

/// One call that runs.
pub(super) struct Running(Arc<Load>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;

    #[test]
    fn there_is_a_limit() {
        let load = Arc::new(Load::new(2));
        let (one, two) = (load.take(), load.take());
        assert!(one.is_some() && two.is_some() && load.take().is_none());
        drop(one);
        assert!(load.take().is_some());
    }

    #[test]
    fn calls_that_look_slow_take_half_of_the_places() {
        let load = Arc::new(Load::new(4));
        let (_one, two) = (load.take(), load.take());
        assert!(load.has_room());
        let three = load.take();
        assert!(!load.has_room());
        drop((two, three));
        assert!(load.has_room());
    }

    #[test]
    fn nothing_is_hosted_by_an_empty_program() {
        assert!(table(&SkillSet::new(&Registry::from_skills([]).unwrap()).unwrap()).is_empty());
    }
}
