//! How many calls may run at the same time.

use std::sync::Arc;
#[cfg(feature = "http")]
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

#[cfg(feature = "http")]
use super::metrics::SkillMetrics;
use crate::error::SkillError;
use crate::pipeline::{Abandoned, CallOutcome, Runnable};

/// A hosted skill with its concurrency limit and its metrics.
#[derive(Debug)]
pub(crate) struct HostedSkill {
    runnable: Arc<Runnable>,
    /// One permit for each call of this skill that may run.
    calls: Arc<Semaphore>,
    abandoned: Abandoned,
    #[cfg(feature = "http")]
    metrics: SkillMetrics,
}

impl HostedSkill {
    pub(super) fn new(
        runnable: Arc<Runnable>,
        limit: usize,
        abandoned: Abandoned,
        #[cfg(feature = "http")] metrics: SkillMetrics,
    ) -> Self {
        Self {
            runnable,
            calls: Arc::new(semaphore(limit)),
            abandoned,
            #[cfg(feature = "http")]
            metrics,
        }
    }

    /// The skill.
    pub(crate) fn runnable(&self) -> &Arc<Runnable> {
        &self.runnable
    }

    /// Threads that calls of this skill left behind.
    pub(super) fn abandoned(&self) -> &Abandoned {
        &self.abandoned
    }

    #[cfg(feature = "http")]
    pub(super) fn metrics(&self) -> &SkillMetrics {
        &self.metrics
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

/// The one code of all of them.
const OVERLOADED: &str = "overloaded";

impl Overloaded {
    /// The error code.
    #[expect(clippy::unused_self, reason = "all have the same, and callers need not know")]
    pub(crate) fn code(self) -> &'static str {
        OVERLOADED
    }

    /// The failure that the caller sees.
    pub(crate) fn error(self) -> SkillError {
        let message = match self {
            Self::Server => "too many calls are running, try again later",
            Self::Skill => "too many calls of this skill are running, try again later",
            #[cfg(feature = "http")]
            Self::Memory => "too many bodies are being received, try again later",
            Self::Stopping => "the host is stopping, try another one or again later",
        };
        SkillError::retryable(OVERLOADED, message)
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
#[derive(Debug)]
pub(crate) struct Permit {
    skill: Arc<HostedSkill>,
    #[cfg(feature = "http")]
    began: Instant,
    #[cfg(feature = "http")]
    counted: bool,
    _slots: [OwnedSemaphorePermit; 2],
}

impl Permit {
    #[cfg(feature = "http")]
    /// Takes a permit, if there is one. Threads that calls left behind keep the slots of their calls.
    pub(super) fn try_acquire(
        calls: &Arc<Semaphore>,
        abandoned: &Abandoned,
        skill: &Arc<HostedSkill>,
    ) -> Result<Self, Overloaded> {
        let slot = |calls: &Arc<Semaphore>, abandoned: &Abandoned| {
            let slot = Arc::clone(calls).try_acquire_owned().ok()?;
            (abandoned.count() <= calls.available_permits()).then_some(slot)
        };
        let in_server = slot(calls, abandoned).ok_or(Overloaded::Server)?;
        let in_skill = slot(&skill.calls, &skill.abandoned).ok_or(Overloaded::Skill)?;
        Ok(Self::new(skill, [in_server, in_skill]))
    }

    /// Waits for a permit.
    #[cfg(feature = "mcp")]
    pub(super) async fn acquire(
        calls: &Arc<Semaphore>,
        skill: &Arc<HostedSkill>,
    ) -> Result<Self, Overloaded> {
        // The skill first: calls that wait for a busy skill keep no slot of the others.
        let in_skill = Arc::clone(&skill.calls).acquire_owned().await;
        let in_server = Arc::clone(calls).acquire_owned().await;
        // Nothing closes the semaphores.
        match (in_server, in_skill) {
            (Ok(in_server), Ok(in_skill)) => Ok(Self::new(skill, [in_server, in_skill])),
            _ => Err(Overloaded::Stopping),
        }
    }

    fn new(skill: &Arc<HostedSkill>, slots: [OwnedSemaphorePermit; 2]) -> Self {
        #[cfg(feature = "http")]
        skill.metrics.begun();
        Self {
            skill: Arc::clone(skill),
            #[cfg(feature = "http")]
            began: Instant::now(),
            #[cfg(feature = "http")]
            counted: false,
            _slots: slots,
        }
    }

    /// The skill that may be called.
    pub(crate) fn skill(&self) -> &Arc<HostedSkill> {
        &self.skill
    }

    /// Counts how the call ended.
    pub(super) fn ended(&mut self, outcome: &CallOutcome) {
        self.count(outcome.result().err().map(SkillError::code));
        #[cfg(feature = "http")]
        if let Some(cost) = outcome.cost() {
            self.skill.metrics.cost(cost);
        }
    }

    /// Counts a call that the server ended.
    pub(super) fn failed(&mut self, code: &str) {
        self.count(Some(code));
    }

    #[cfg(feature = "http")]
    fn count(&mut self, code: Option<&str>) {
        if !std::mem::replace(&mut self.counted, true) {
            self.skill.metrics.ended(self.began.elapsed(), code);
        }
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "counted with metrics")]
    fn count(&mut self, _: Option<&str>) {}
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.count(Some("cancelled"));
    }
}

/// A semaphore with so many permits.
pub(super) fn semaphore(count: usize) -> Semaphore {
    Semaphore::new(usize::try_from(permits(count)).unwrap_or(Semaphore::MAX_PERMITS))
}

/// The number of permits that stands for a limit: what can be acquired at once.
pub(super) fn permits(count: usize) -> u32 {
    u32::try_from(count.min(Semaphore::MAX_PERMITS)).unwrap_or(u32::MAX)
}
