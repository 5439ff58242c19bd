//! How many calls may run, and what they are told that may not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use axum::http::StatusCode;

use super::Lifecycle;
use super::metrics::SkillCounters;
use crate::error::SkillError;
use crate::http::Limits;
use crate::pipeline::{Abandoned, CallOutcome, Opened, Place, Runnable};

/// A hosted skill with what is counted of it.
#[derive(Debug)]
pub(crate) struct Hosted {
    runnable: Arc<Runnable>,
    limit: usize,
    counters: Arc<SkillCounters>,
}

impl Hosted {
    pub(super) fn new(runnable: Arc<Runnable>, limit: usize, counters: Arc<SkillCounters>) -> Self {
        Self {
            runnable,
            limit,
            counters,
        }
    }

    /// Runs a call that was admitted.
    pub(super) async fn run(&self, opened: Opened) -> CallOutcome {
        let place = Place::Runtime(Some(&self.counters.abandoned));
        opened.run(&self.runnable, place).await
    }

    /// The skill.
    pub(crate) fn runnable(&self) -> &Arc<Runnable> {
        &self.runnable
    }
}

/// Why a call does not run, or no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The host runs as many calls as it may.
    HostFull,
    /// The skill runs as many calls as it may.
    SkillFull,
    /// The bodies that are being received take all the memory that they may.
    MemoryFull,
    /// The host is stopping.
    Stopping,
}

impl Refusal {
    /// The one code of all of them.
    #[expect(clippy::unused_self, reason = "all have the same, and callers need not know")]
    pub(crate) fn code(self) -> &'static str {
        OVERLOADED
    }

    /// 429 where other skills could still be called, else 503.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::SkillFull => StatusCode::TOO_MANY_REQUESTS,
            Self::HostFull | Self::MemoryFull | Self::Stopping => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The failure that the caller sees.
    pub(crate) fn error(self) -> SkillError {
        let message = match self {
            Self::HostFull => "too many calls are running, try again later",
            Self::SkillFull => "too many calls of this skill are running, try again later",
            Self::MemoryFull => "too many bodies are being received, try again later",
            Self::Stopping => "the host is stopping, try another one or again later",
        };
        SkillError::retryable(OVERLOADED, message)
    }
}

const OVERLOADED: &str = "overloaded";

/// What is going on, and how much may.
#[derive(Debug)]
pub(crate) struct Load {
    calls: AtomicUsize,
    calls_limit: usize,
    /// The threads that calls left behind. They keep the places of their calls.
    abandoned: Abandoned,
    body_bytes: AtomicUsize,
    body_limit: usize,
}

impl Load {
    pub(super) fn new(limits: &Limits, abandoned: Abandoned) -> Self {
        Self {
            calls: AtomicUsize::new(0),
            calls_limit: limits.concurrency,
            abandoned,
            body_bytes: AtomicUsize::new(0),
            body_limit: limits.body_memory,
        }
    }

    /// Lets a call run, or says why it may not.
    pub(super) fn admit<'a>(
        &'a self,
        hosted: &'a Hosted,
        lifecycle: &Lifecycle,
    ) -> Result<Admitted<'a>, Refusal> {
        if lifecycle.is_draining() {
            return Err(Refusal::Stopping);
        }
        let (calls, running) = (&self.calls, &hosted.counters.in_flight);
        let in_host = Taken::of(calls, &self.abandoned, self.calls_limit).ok_or(Refusal::HostFull)?;
        let in_skill =
            Taken::of(running, &hosted.counters.abandoned, hosted.limit).ok_or(Refusal::SkillFull)?;
        Ok(Admitted {
            counters: &hosted.counters,
            began: Instant::now(),
            counted: false,
            _places: [in_host, in_skill],
        })
    }

    /// Takes memory for a part of a body.
    pub(in crate::http) fn take_memory(&self, bytes: usize) -> Result<(), Refusal> {
        let before = self.body_bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.body_limit {
            self.give_memory(bytes);
            return Err(Refusal::MemoryFull);
        }
        Ok(())
    }

    /// Gives memory back.
    pub(in crate::http) fn give_memory(&self, bytes: usize) {
        self.body_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// One of a number of places.
#[derive(Debug)]
struct Taken<'a>(&'a AtomicUsize);

impl<'a> Taken<'a> {
    fn of(places: &'a AtomicUsize, abandoned: &Abandoned, limit: usize) -> Option<Self> {
        let before = places.fetch_add(1, Ordering::Relaxed);
        // The place is given back by dropping it.
        let taken = Self(places);
        (before.saturating_add(abandoned.count()) < limit).then_some(taken)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A call that runs. One that is dropped without an end was given up by its caller.
#[derive(Debug)]
pub(super) struct Admitted<'a> {
    counters: &'a SkillCounters,
    began: Instant,
    counted: bool,
    _places: [Taken<'a>; 2],
}

impl Admitted<'_> {
    /// Counts how the call ended.
    pub(super) fn ended(mut self, completed: &CallOutcome) {
        self.count(completed.result().err().map(SkillError::code));
        if let Some(cost) = completed.cost() {
            self.counters.cost(cost);
        }
    }

    /// Counts a call that the host ended.
    pub(super) fn failed(mut self, code: &str) {
        self.count(Some(code));
    }

    fn count(&mut self, code: Option<&str>) {
        self.counted = true;
        self.counters.ended(self.began.elapsed(), code);
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        if !self.counted {
            self.count(Some("cancelled"));
        }
    }
}
