//! One cached value with an expiry.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::clock::Clock;

/// A value that is kept for a while, and that one caller at a time renews for all who wait.
///
/// The one who renews it may be dropped at any time; then the next of those who wait renews it.
pub(crate) struct Cached<T, E> {
    clock: Clock,
    state: Mutex<State<T, E>>,
    /// Held by the one who renews.
    turn: tokio::sync::Mutex<()>,
}

struct State<T, E> {
    /// The value, and when it is used. A clock that was set back ends it as well.
    value: Option<(T, Range<SystemTime>)>,
    /// How many renewals began.
    begun: u64,
    /// The last renewal that ended, and how.
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

    /// The value, else what `renew` gives. A failure is shared by all who wait, and not kept. With `fresh` the value is
    /// renewed in any case, by a renewal that begins after this call.
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

    /// Keeps a value for some time.
    pub(crate) fn set(&self, value: T, keep: Duration) {
        let now = self.clock.now();
        self.state().value = Some((value, now..now + keep));
    }

    /// Forgets the value if it is this one.
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
