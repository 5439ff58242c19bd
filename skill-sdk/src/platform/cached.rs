//! One cached value with an expiry.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::clock::Clock;

/// A cached value. One caller at a time renews it (single flight), and all waiting callers get the result.
///
/// If the renewing caller is dropped, the next waiting caller renews the value.
pub(crate) struct Cached<T, E> {
    clock: Clock,
    state: Mutex<State<T, E>>,
    /// Held by the caller that renews the value.
    turn: tokio::sync::Mutex<()>,
}

struct State<T, E> {
    /// The value, and when it is valid. A clock that is set back invalidates it too.
    value: Option<(T, Range<SystemTime>)>,
    /// How many renewals have started.
    begun: u64,
    /// The last renewal that ended, and its result.
    last: Option<(u64, Result<T, E>)>,
}

impl<T: Clone, E: Clone> Cached<T, E> {
    pub(crate) fn new(clock: &Clock) -> Self {
        let state = State {
            value: None,
            begun: 0,
            last: None,
        };
        Self {
            clock: clock.clone(),
            state: Mutex::new(state),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// The cached value, or the result of `renew`. All waiting callers share a failure, and it is not cached. With `fresh` the
    /// value is always renewed, by a renewal that starts after this call.
    pub(crate) async fn get_or_renew<F: Future<Output = Result<T, E>>>(
        &self,
        fresh: bool,
        renew: impl FnOnce() -> F,
    ) -> Result<T, E> {
        let seen = {
            let state = self.state();
            match self.current(&state).filter(|_| !fresh) {
                Some(value) => return Ok(value),
                None if fresh => state.begun,
                None => state.last.as_ref().map_or(0, |(round, _)| *round),
            }
        };
        let _turn = self.turn.lock().await;
        let round = {
            let mut state = self.state();
            if let Some((_, outcome)) = state.last.as_ref().filter(|(round, _)| *round > seen) {
                return outcome.clone();
            }
            state.begun += 1;
            state.begun
        };
        let outcome = renew().await;
        self.state().last = Some((round, outcome.clone()));
        outcome
    }

    /// Caches a value for the time `keep`.
    pub(crate) fn set(&self, value: T, keep: Duration) {
        let now = self.clock.now();
        self.state().value = Some((value, now..now + keep));
    }

    /// Removes the value if `is_this` holds.
    pub(crate) fn clear_if(&self, is_this: impl FnOnce(&T) -> bool) {
        self.state().value.take_if(|(value, _)| is_this(value));
    }

    fn current(&self, state: &State<T, E>) -> Option<T> {
        let (value, used) = state.value.as_ref()?;
        used.contains(&self.clock.now()).then(|| value.clone())
    }

    fn state(&self) -> MutexGuard<'_, State<T, E>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
