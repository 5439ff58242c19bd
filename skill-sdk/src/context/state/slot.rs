//! One shared value: who builds it, and who waits for it.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tracing::Instrument;

use super::{Build, Shared, StateBuilder, unavailable};
use crate::context::Environment;
use crate::error::SkillError;

/// How long an asynchronous build may take. Calls that need the value end by their own time; this is for a build that hangs,
/// which would keep the value from all calls for ever.
const LONGEST: Duration = Duration::from_mins(10);

/// A build that goes on, for all who wait for it.
type Building = futures_util::future::Shared<BoxFuture<'static, Result<Shared, SkillError>>>;

/// One shared value, from its declaration to the value.
#[derive(Default)]
pub(super) struct Slot {
    /// `None`: the value was given.
    pub(super) builder: Option<&'static dyn StateBuilder>,
    pub(super) value: OnceLock<Shared>,
    pub(super) building: Mutex<Option<Building>>,
}

impl Slot {
    #[cfg(test)]
    pub(super) fn is_building(&self) -> bool {
        self.building().is_some()
    }

    fn building(&self) -> MutexGuard<'_, Option<Building>> {
        self.building.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn get(
        self: &Arc<Self>,
        name: &'static str,
        environment: &Environment,
    ) -> Result<Shared, SkillError> {
        let work = {
            let mut building = self.building();
            match (self.value.get(), self.builder) {
                (Some(value), _) => return Ok(Arc::clone(value)),
                (None, None) => return Err(unavailable(name, "it has no builder")),
                (None, Some(builder)) => building
                    .get_or_insert_with(|| self.start(name, builder.build(environment.clone())))
                    .clone(),
            }
        };
        let built = work.clone().await;
        if built.is_err() {
            // A task that went away with its runtime did not do this itself.
            self.building().take_if(|known| known.ptr_eq(&work));
        }
        built
    }

    /// Begins to build in a task, which goes on whoever stops waiting. Its events belong to the call that began it.
    fn start(self: &Arc<Self>, name: &'static str, work: Build) -> Building {
        let slot = Arc::clone(self);
        let building = async move {
            let built = run(work).await;
            let mut known = slot.building();
            *known = None;
            let built = built.map_err(|error| failed(name, error))?;
            Ok(Arc::clone(slot.value.get_or_init(|| built)))
        };
        let task = tokio::spawn(building.in_current_span());
        let ended = task
            .map(move |ended| ended.unwrap_or_else(|_| Err(unavailable(name, "building it was given up"))));
        ended.boxed().shared()
    }
}

/// Builds a value. A panic is a failure like others: the next call tries again.
async fn run(work: Build) -> Result<Shared, SkillError> {
    match work {
        Build::Asynchronous(work) => {
            let work = AssertUnwindSafe(work).catch_unwind();
            match tokio::time::timeout(LONGEST, work).await {
                Ok(Ok(built)) => built,
                Ok(Err(panic)) => {
                    let text = format!("it panicked: {}", crate::error::panic_text(panic.as_ref()));
                    Err(SkillError::crash("panic").with_source(text))
                }
                Err(_) => {
                    let message = format!("it took longer than {} minutes", LONGEST.as_secs() / 60);
                    Err(SkillError::retryable("timeout", message))
                }
            }
        }
        // Without an end: a thread cannot be ended, and another one would be kept beside it.
        Build::Blocking(work) => {
            let span = tracing::Span::current();
            let task = tokio::task::spawn_blocking(move || span.in_scope(work));
            task.await
                .unwrap_or_else(|failed| Err(SkillError::crash("panic").with_source(failed)))
        }
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
