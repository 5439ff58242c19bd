//! How many calls may run at the same time.

use std::sync::Arc;
#[cfg(feature = "http")]
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::task_tracker::TaskTrackerToken;

#[cfg(feature = "http")]
use super::metrics::SkillMetrics;
use crate::error::SkillError;
#[cfg(feature = "http")]
use crate::pipeline::CallOutcome;
use crate::pipeline::{Runnable, Slot};

/// A hosted skill with its concurrency limit and its metrics.
pub(crate) struct HostedSkill {
    runnable: Arc<Runnable>,
    /// One permit for each call of this skill that may run.
    calls: Arc<Semaphore>,
    #[cfg(feature = "http")]
    limit: usize,
    #[cfg(feature = "http")]
    metrics: SkillMetrics,
}

impl HostedSkill {
    pub(super) fn new(
        runnable: Arc<Runnable>,
        limit: usize,
        #[cfg(feature = "http")] metrics: SkillMetrics,
    ) -> Self {
        Self {
            runnable,
            calls: Arc::new(semaphore(limit)),
            #[cfg(feature = "http")]
            limit: limit.min(Semaphore::MAX_PERMITS),
            #[cfg(feature = "http")]
            metrics,
        }
    }

    /// The skill.
    pub(crate) fn runnable(&self) -> &Arc<Runnable> {
        &self.runnable
    }

    /// Takes over into the metrics what others count.
    #[cfg(feature = "http")]
    pub(super) fn update_metrics(&self) {
        // By calls that run, and by threads that go on after their calls.
        let slots_taken = self.limit.saturating_sub(self.calls.available_permits());
        self.metrics.set(slots_taken, self.runnable.slow_polls());
    }
}

/// Why a call is rejected or cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overloaded {
    /// The server runs as many calls as it may.
    Server,
    /// The skill runs as many calls as it may.
    Skill,
    /// The bodies that are being received take all the memory that they may.
    #[cfg(feature = "http")]
    Memory,
    /// The server is shutting down.
    Stopping,
}

impl Overloaded {
    /// The one code of all of them.
    pub(crate) const CODE: &str = "overloaded";

    /// The failure that the caller sees.
    pub(crate) fn error(self) -> SkillError {
        let message = match self {
            Self::Server => "too many calls are running, try again later",
            Self::Skill => "too many calls of this skill are running, try again later",
            #[cfg(feature = "http")]
            Self::Memory => "too many bodies are being received, try again later",
            Self::Stopping => "the server is stopping, try another one or again later",
        };
        SkillError::retryable(Self::CODE, message)
    }

    /// 429 where other skills could still be called, else 503.
    #[cfg(feature = "http")]
    pub(crate) fn status(self) -> axum::http::StatusCode {
        use axum::http::StatusCode;

        match self {
            Self::Skill => StatusCode::TOO_MANY_REQUESTS,
            Self::Server | Self::Memory | Self::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// A concurrency permit of one call. A permit that is dropped before its call ended counts as a cancelled call.
pub(crate) struct Permit {
    skill: Arc<HostedSkill>,
    #[cfg(feature = "http")]
    began: Instant,
    #[cfg(feature = "http")]
    counted: bool,
    /// One of the server and one of the skill, shared with the thread of a call.
    slots: Arc<[OwnedSemaphorePermit; 2]>,
    _running: TaskTrackerToken,
}

impl Permit {
    /// Takes a permit, if there is one. A thread that goes on after its call keeps the slots of the call.
    pub(super) fn try_acquire(
        calls: &Arc<Semaphore>,
        skill: &Arc<HostedSkill>,
        running: TaskTrackerToken,
    ) -> Result<Self, Overloaded> {
        let slot = |calls: &Arc<Semaphore>| Arc::clone(calls).try_acquire_owned().ok();
        let in_server = slot(calls).ok_or(Overloaded::Server)?;
        let in_skill = slot(&skill.calls).ok_or(Overloaded::Skill)?;
        Ok(Self::new(skill, [in_server, in_skill], running))
    }

    /// Waits for a permit.
    pub(super) async fn acquire(
        calls: &Arc<Semaphore>,
        skill: &Arc<HostedSkill>,
        running: TaskTrackerToken,
    ) -> Result<Self, SkillError> {
        // The skill first: calls that wait for a busy skill keep no slot of the others.
        let in_skill = Arc::clone(&skill.calls).acquire_owned().await;
        let in_server = Arc::clone(calls).acquire_owned().await;
        // Nothing closes the semaphores.
        match (in_server, in_skill) {
            (Ok(in_server), Ok(in_skill)) => Ok(Self::new(skill, [in_server, in_skill], running)),
            _ => Err(Overloaded::Stopping.error()),
        }
    }

    fn new(skill: &Arc<HostedSkill>, slots: [OwnedSemaphorePermit; 2], running: TaskTrackerToken) -> Self {
        #[cfg(feature = "http")]
        skill.metrics.begun();
        Self {
            skill: Arc::clone(skill),
            #[cfg(feature = "http")]
            began: Instant::now(),
            #[cfg(feature = "http")]
            counted: false,
            slots: Arc::new(slots),
            _running: running,
        }
    }

    /// The skill that may be called.
    pub(crate) fn skill(&self) -> &Arc<HostedSkill> {
        &self.skill
    }

    /// What a thread of the call keeps until it ends.
    pub(super) fn slot(&self) -> Slot {
        Arc::clone(&self.slots) as Slot
    }

    /// Counts how the call ended.
    #[cfg(feature = "http")]
    pub(super) fn ended(&mut self, outcome: &Result<CallOutcome, Overloaded>) {
        let code = match outcome {
            Ok(outcome) => outcome.result().err().map(SkillError::code),
            Err(_) => Some(Overloaded::CODE),
        };
        self.count(code);
        if let Some(cost) = outcome.as_ref().ok().and_then(CallOutcome::cost) {
            self.skill.metrics.cost(cost);
        }
    }

    #[cfg(feature = "http")]
    fn count(&mut self, code: Option<&str>) {
        if !std::mem::replace(&mut self.counted, true) {
            self.skill.metrics.ended(self.began.elapsed(), code);
        }
    }
}

#[cfg(feature = "http")]
impl Drop for Permit {
    fn drop(&mut self) {
        self.count(Some("cancelled"));
    }
}

/// A semaphore with so many permits.
pub(crate) fn semaphore(count: usize) -> Semaphore {
    Semaphore::new(count.min(Semaphore::MAX_PERMITS))
}
