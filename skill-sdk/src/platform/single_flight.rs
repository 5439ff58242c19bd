//! One piece of work at a time, whose outcome those who wait share.

use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Work that one caller does for all who come meanwhile.
///
/// The one who does it may be given up at any time; then the next of those who wait does it.
pub(crate) struct SingleFlight<T> {
    turn: tokio::sync::Mutex<()>,
    rounds: Mutex<Rounds<T>>,
}

struct Rounds<T> {
    started: u64,
    /// The last round that ended, and how.
    last: Option<(u64, T)>,
}

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self {
            turn: tokio::sync::Mutex::default(),
            rounds: Mutex::new(Rounds {
                started: 0,
                last: None,
            }),
        }
    }
}

impl<T: Clone> SingleFlight<T> {
    /// The outcome of `work`, or of the same work of somebody else that ended after this call.
    ///
    /// With `fresh` that work must also have begun after this call.
    pub(crate) async fn run<F: Future<Output = T>>(&self, fresh: bool, work: impl FnOnce() -> F) -> T {
        let seen = {
            let rounds = self.rounds();
            if fresh {
                rounds.started
            } else {
                rounds.last.as_ref().map_or(0, |(round, _)| *round)
            }
        };
        let _turn = self.turn.lock().await;
        let round = {
            let mut rounds = self.rounds();
            if let Some((round, outcome)) = &rounds.last
                && *round > seen
            {
                return outcome.clone();
            }
            rounds.started += 1;
            rounds.started
        };
        let outcome = work().await;
        self.rounds().last = Some((round, outcome.clone()));
        outcome
    }

    fn rounds(&self) -> MutexGuard<'_, Rounds<T>> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::sync::Semaphore;

    use super::*;

    /// Work that counts itself and ends when it is let go.
    struct Work {
        flight: SingleFlight<u64>,
        done: AtomicU64,
        begun: Semaphore,
        gate: Semaphore,
    }

    impl Work {
        fn new() -> Arc<Self> {
            Arc::new(Self {
                flight: SingleFlight::default(),
                done: AtomicU64::new(0),
                begun: Semaphore::new(0),
                gate: Semaphore::new(0),
            })
        }

        async fn run(&self, fresh: bool) -> u64 {
            let work = || async {
                self.begun.add_permits(1);
                self.gate.acquire().await.unwrap().forget();
                self.done.fetch_add(1, Ordering::SeqCst) + 1
            };
            self.flight.run(fresh, work).await
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    /// Runs the tasks that are ready.
    async fn settle() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn those_who_wait_share_one_outcome() {
        runtime().block_on(async {
            let work = Work::new();
            let tasks: Vec<_> = (0..100)
                .map(|_| {
                    tokio::spawn({
                        let work = Arc::clone(&work);
                        async move { work.run(false).await }
                    })
                })
                .collect();
            work.begun.acquire().await.unwrap().forget();
            settle().await;
            work.gate.add_permits(1);
            for task in tasks {
                assert_eq!(task.await.unwrap(), 1);
            }
            work.gate.add_permits(1);
            assert_eq!(work.run(false).await, 2, "who comes later does it again");
        });
    }

    #[test]
    fn who_wants_it_fresh_does_not_take_what_began_before() {
        runtime().block_on(async {
            let work = Work::new();
            let spawn = |fresh| {
                tokio::spawn({
                    let work = Arc::clone(&work);
                    async move { work.run(fresh).await }
                })
            };
            let first = spawn(false);
            work.begun.acquire().await.unwrap().forget();
            let fresh: Vec<_> = (0..10).map(|_| spawn(true)).collect();
            settle().await;
            work.gate.add_permits(2);
            assert_eq!(first.await.unwrap(), 1);
            for task in fresh {
                assert_eq!(task.await.unwrap(), 2);
            }
        });
    }

    #[test]
    fn the_next_one_takes_over_from_who_is_given_up() {
        runtime().block_on(async {
            let work = Work::new();
            let spawn = || {
                tokio::spawn({
                    let work = Arc::clone(&work);
                    async move { work.run(false).await }
                })
            };
            let first = spawn();
            work.begun.acquire().await.unwrap().forget();
            let second = spawn();
            settle().await;
            first.abort();
            work.begun.acquire().await.unwrap().forget();
            work.gate.add_permits(1);
            assert_eq!(second.await.unwrap(), 1);
        });
    }
}
