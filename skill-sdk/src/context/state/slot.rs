//! One shared value: who builds it, and who waits for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::super::cancel::Cancellation;
use super::build::{Caught, in_its_own_task, in_time};
use super::{Shared, StateBuilder, unavailable};
use crate::context::Environment;
use crate::error::SkillError;

/// One shared value, from its declaration to the value.
pub(super) struct Slot {
    /// `None`: the value was given.
    builder: Option<&'static dyn StateBuilder>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    value: Option<Shared>,
    /// Somebody builds it.
    building: bool,
    /// Set when the building that goes on ends.
    end: Cancellation,
    /// How many times building ended: well, badly, or because the runtime that built went away. It is also the number of
    /// the round that goes on or comes next.
    rounds: u64,
    /// Why building ended badly the last time that it did, and the round in which that was.
    failed: Option<(u64, Failed)>,
}

/// Why there is no value. Everybody who waited for it is told.
#[derive(Clone)]
struct Failed {
    /// In words for callers.
    why: String,
    /// For the log.
    source: Arc<SkillError>,
}

impl Slot {
    /// A value that is there, or one to be built.
    pub(super) fn new(builder: Option<&'static dyn StateBuilder>, value: Option<Shared>) -> Self {
        let state = State {
            value,
            ..State::default()
        };
        Self {
            builder,
            state: Mutex::new(state),
        }
    }

    pub(super) fn builder(&self) -> Option<&'static dyn StateBuilder> {
        self.builder
    }

    #[cfg(feature = "runtime")]
    pub(super) fn value(&self) -> Option<Shared> {
        self.state().value.clone()
    }

    #[cfg(test)]
    pub(super) fn is_building(&self) -> bool {
        self.state().building
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn get(
        self: &Arc<Self>,
        name: &'static str,
        environment: &Environment,
    ) -> Result<Shared, SkillError> {
        loop {
            let (builds, round, end) = {
                let mut state = self.state();
                if let Some(value) = &state.value {
                    return Ok(Arc::clone(value));
                }
                let builds = !state.building;
                state.building = true;
                (builds, state.rounds, state.end.cancelled())
            };
            if builds {
                let work = build(Turn(Arc::clone(self)), name, environment.clone());
                in_its_own_task(work).await;
            }
            end.await;
            let state = self.state();
            if let Some((_, failed)) = state.failed.as_ref().filter(|(ended, _)| *ended >= round) {
                return Err(unavailable(name, &failed.why).with_source(Arc::clone(&failed.source)));
            }
            if builds && state.value.is_none() {
                // Nobody builds in a runtime that ends. Whoever only waited takes the next turn.
                return Err(unavailable(name, "building it was given up"));
            }
        }
    }
}

/// Builds a value while it is `turn`'s turn.
async fn build(turn: Turn, name: &'static str, environment: Environment) {
    let Turn(slot) = &turn;
    let built = match slot.builder {
        // Its thread cannot be ended: another one would be kept beside it, and then a third.
        Some(builder) if builder.blocks() => Caught(builder.build(environment)).await,
        Some(builder) => in_time(Caught(builder.build(environment))).await,
        None => Err(unavailable(name, "it has no builder")),
    };
    let mut state = slot.state();
    match built {
        Ok(value) => state.value = Some(value),
        Err(error) => {
            // What the author classified is meant for callers; anything else is for the log.
            let why = if error.is_crash() {
                "building it failed".to_owned()
            } else {
                format!("building it failed: {error}")
            };
            let source = Arc::new(error);
            state.failed = Some((state.rounds, Failed { why, source }));
        }
    }
}

/// The turn of the one who builds; ends also when the build panics or is given up.
struct Turn(Arc<Slot>);

impl Drop for Turn {
    fn drop(&mut self) {
        let end = {
            let mut state = self.0.state();
            state.building = false;
            state.rounds += 1;
            std::mem::take(&mut state.end)
        };
        end.cancel();
    }
}
