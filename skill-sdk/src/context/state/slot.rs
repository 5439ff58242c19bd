//! One shared value: who builds it, and who waits for it.

#[cfg(feature = "runtime")]
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
#[cfg(feature = "runtime")]
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "runtime")]
use futures_util::FutureExt;
#[cfg(feature = "runtime")]
use tokio::runtime::Handle;

use super::{Shared, StateBuilder, unavailable};
use crate::context::Environment;
use crate::error::SkillError;

/// How long building may take. Calls that need the value end by their own time; this is for a build that hangs, which would
/// keep the value from all calls for ever.
#[cfg(feature = "runtime")]
const LONGEST: std::time::Duration = std::time::Duration::from_mins(10);

/// A build that goes on, for all who wait for it. `None` when the runtime that built went away.
#[cfg(feature = "runtime")]
type Building = futures_util::future::Shared<
    std::pin::Pin<Box<dyn Future<Output = Option<Result<Shared, SkillError>>> + Send>>,
>;

/// One shared value, from its declaration to the value.
pub(super) struct Slot {
    /// `None`: the value was given.
    builder: Option<&'static dyn StateBuilder>,
    value: OnceLock<Shared>,
    #[cfg(feature = "runtime")]
    building: Mutex<Option<Building>>,
}

impl Slot {
    /// A value that is there, or one to be built.
    pub(super) fn new(builder: Option<&'static dyn StateBuilder>, value: Option<Shared>) -> Self {
        Self {
            builder,
            value: value.map_or_else(OnceLock::new, OnceLock::from),
            #[cfg(feature = "runtime")]
            building: Mutex::default(),
        }
    }

    #[cfg(feature = "runtime")]
    pub(super) fn builder(&self) -> Option<&'static dyn StateBuilder> {
        self.builder
    }

    #[cfg(feature = "runtime")]
    pub(super) fn value(&self) -> Option<Shared> {
        self.value.get().cloned()
    }

    #[cfg(test)]
    pub(super) fn is_building(&self) -> bool {
        self.building().is_some()
    }

    /// Without a runtime there are no tasks: each caller builds until there is a value.
    #[cfg(not(feature = "runtime"))]
    pub(super) async fn get(
        &self,
        name: &'static str,
        environment: &Environment,
    ) -> Result<Shared, SkillError> {
        if let Some(value) = self.value.get() {
            return Ok(Arc::clone(value));
        }
        let builder = self
            .builder
            .ok_or_else(|| unavailable(name, "it has no builder"))?;
        let built = builder.build(environment.clone()).await;
        let built = built.map_err(|error| failed(name, error))?;
        Ok(Arc::clone(self.value.get_or_init(|| built)))
    }
}

#[cfg(feature = "runtime")]
impl Slot {
    fn building(&self) -> MutexGuard<'_, Option<Building>> {
        self.building.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn get(
        self: &Arc<Self>,
        name: &'static str,
        environment: &Environment,
    ) -> Result<Shared, SkillError> {
        let mut began = false;
        loop {
            let work = {
                let mut building = self.building();
                if let Some(value) = self.value.get() {
                    return Ok(Arc::clone(value));
                }
                let start = || {
                    began = true;
                    self.start(name, environment.clone())
                };
                building.get_or_insert_with(start).clone()
            };
            if let Some(built) = work.clone().await {
                return built;
            }
            self.building().take_if(|known| known.ptr_eq(&work));
            if began {
                // Nobody builds in a runtime that ends. Whoever only waited takes the next turn.
                return Err(unavailable(name, "building it was given up"));
            }
        }
    }

    /// Begins to build. Where there is a runtime, a task goes on with it whoever stops waiting. Its events belong to the call
    /// that began it.
    fn start(self: &Arc<Self>, name: &'static str, environment: Environment) -> Building {
        let slot = Arc::clone(self);
        let work = async move {
            let built = slot.build(environment).await;
            let mut building = slot.building();
            *building = None;
            let built = built.map_err(|error| failed(name, error))?;
            Ok(Arc::clone(slot.value.get_or_init(|| built)))
        };
        match Handle::try_current() {
            Ok(runtime) => {
                let task = runtime.spawn(tracing::Instrument::in_current_span(work));
                task.map(Result::ok).boxed().shared()
            }
            // A context that is used on a thread of another runtime.
            Err(_) => work.map(Some).boxed().shared(),
        }
    }

    /// Builds a value. A panic is a failure like others: the next call tries again.
    async fn build(&self, environment: Environment) -> Result<Shared, SkillError> {
        let Some(builder) = self.builder else {
            return Err(SkillError::retryable("state_unavailable", "it has no builder"));
        };
        let build = AssertUnwindSafe(builder.build(environment)).catch_unwind();
        // A thread cannot be ended: another one would be kept beside it, and then a third. Without a runtime there is no
        // clock.
        let outcome = if builder.blocks() || Handle::try_current().is_err() {
            build.await
        } else {
            tokio::time::timeout(LONGEST, build).await.unwrap_or_else(|_| {
                let message = format!("it took longer than {} minutes", LONGEST.as_secs() / 60);
                Ok(Err(SkillError::retryable("timeout", message)))
            })
        };
        outcome.unwrap_or_else(|panic| {
            let text = format!("it panicked: {}", crate::error::panic_text(panic.as_ref()));
            Err(SkillError::unclassified("panic", Some(text.into())))
        })
    }
}

/// What the author classified is meant for callers; anything else is for the log.
fn failed(name: &str, error: SkillError) -> SkillError {
    let why = if error.is_crash() {
        "building it failed".to_owned()
    } else {
        format!("building it failed: {error}")
    };
    unavailable(name, &why).with_source(error)
}
