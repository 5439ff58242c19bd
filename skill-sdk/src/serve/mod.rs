//! What all servers share: admission of calls, calls in flight, graceful shutdown, readiness, metrics.
//!
//! A server makes one [`Service`]. For every call it takes a [`Permit`], runs the call with [`Service::call`], and drops the
//! permit once the response is written.

mod admission;
#[cfg(feature = "http")]
mod guard;
mod in_flight;
mod limits;
#[cfg(feature = "auth")]
mod log_limit;
#[cfg(feature = "http")]
mod metrics;
#[cfg(feature = "http")]
mod readiness;
#[cfg(any(feature = "mcp", feature = "host"))]
mod tool_options;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) use self::admission::{HostedSkill, Overloaded, Permit, semaphore};
#[cfg(feature = "http")]
pub(crate) use self::guard::Guard;
pub(crate) use self::in_flight::{InFlight, InFlightGuard};
pub use self::limits::Limits;
#[cfg(feature = "host")]
pub(crate) use self::limits::flags;
#[cfg(feature = "auth")]
pub(crate) use self::log_limit::LogLimit;
#[cfg(feature = "http")]
use self::readiness::Readiness;
#[cfg(any(feature = "mcp", feature = "host"))]
pub use self::tool_options::{ToolOptions, ToolSchemas};
#[cfg(feature = "http")]
pub(crate) use self::{metrics::Metrics, readiness::Probe};
use crate::context::Environment;
use crate::error::SkillError;
use crate::pipeline::{Call, CallOutcome, Meta, Runnable, SkillSet};

/// The state that the parts of a server share. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub(crate) struct Service(Arc<Inner>);

struct Inner {
    skills: SkillSet,
    environment: Environment,
    /// By `name@version`.
    hosted: HashMap<String, Arc<HostedSkill>>,
    /// One permit for each call that may run.
    calls: Arc<Semaphore>,
    /// The calls that run, without the threads that go on after theirs.
    running: TaskTracker,
    /// Whether new calls are rejected, since the server is shutting down.
    draining: AtomicBool,
    /// Cancelled when the calls that still run are given up.
    cut: CancellationToken,
    #[cfg(feature = "mcp-http")]
    in_flight: InFlight,
    #[cfg(feature = "http")]
    limits: Limits,
    #[cfg(feature = "http")]
    metrics: Metrics,
    #[cfg(feature = "http")]
    readiness: Readiness,
    /// One permit for each byte that bodies may take together while they are received.
    #[cfg(feature = "http")]
    body_memory: Semaphore,
}

impl Service {
    /// A service of clients over pipes, for this many calls at the same time.
    pub(crate) fn of_pipes(skills: SkillSet, concurrency: usize, environment: Environment) -> Self {
        let limits = Limits {
            concurrency,
            skill_concurrency: concurrency,
            ..Limits::default()
        };
        Self::new(
            skills,
            &limits,
            environment,
            #[cfg(feature = "http")]
            Vec::new(),
        )
    }

    /// A service on a port. Each of the probes gives a reason why the server is not ready.
    pub(crate) fn new(
        skills: SkillSet,
        limits: &Limits,
        environment: Environment,
        #[cfg(feature = "http")] probes: Vec<Probe>,
    ) -> Self {
        let running = TaskTracker::new();
        running.close();
        #[cfg(feature = "http")]
        let metrics = Metrics::new();
        let host = |runnable: &Arc<Runnable>| {
            let skill = runnable.skill();
            let hosted = HostedSkill::new(
                Arc::clone(runnable),
                limits.of_skill(skill.reference(), skill.name()),
                #[cfg(feature = "http")]
                metrics.of_skill(skill.reference()),
            );
            (skill.reference().to_owned(), Arc::new(hosted))
        };
        Self(Arc::new(Inner {
            hosted: skills.runnables().map(host).collect(),
            calls: Arc::new(semaphore(limits.concurrency)),
            running,
            draining: AtomicBool::new(false),
            cut: CancellationToken::new(),
            #[cfg(feature = "mcp-http")]
            in_flight: InFlight::default(),
            #[cfg(feature = "http")]
            body_memory: semaphore(limits.max_body_memory),
            #[cfg(feature = "http")]
            limits: limits.clone(),
            #[cfg(feature = "http")]
            metrics,
            #[cfg(feature = "http")]
            readiness: Readiness::new(&skills, environment.clone(), probes),
            environment,
            skills,
        }))
    }

    /// The skills.
    pub(crate) fn skills(&self) -> &SkillSet {
        &self.0.skills
    }

    /// The source of configuration and secrets.
    pub(crate) fn environment(&self) -> &Environment {
        &self.0.environment
    }

    /// The skill `name@version`, if it is hosted.
    pub(crate) fn get(&self, reference: &str) -> Option<&Arc<HostedSkill>> {
        self.0.hosted.get(reference)
    }

    /// The calls in flight that clients can cancel by their ids.
    #[cfg(feature = "mcp-http")]
    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.0.in_flight
    }

    /// Waits until a call is admitted, for clients that cannot retry: those of a pipe. It waits at most as long as the call may
    /// take, and `meta` tells how long.
    pub(crate) async fn admit_in_turn(
        &self,
        skill: &Arc<HostedSkill>,
        meta: &mut Meta,
    ) -> Result<Permit, SkillError> {
        if let Ok(permit) = self.try_admit(skill) {
            return Ok(permit);
        }
        let (calls, running) = (&self.0.calls, self.0.running.token());
        let limit = meta.time_limit(skill.runnable().timeout());
        let began = Instant::now();
        let waited = tokio::time::timeout(limit, Permit::acquire(calls, skill, running)).await;
        meta.waited = began.elapsed();
        waited.unwrap_or_else(|_| {
            let limit = meta.time_limit_in_words().unwrap_or_default();
            let message = format!("too many calls are running: the call waited for others for {limit}");
            Err(SkillError::retryable("timeout", message))
        })
    }

    /// Whether new calls are rejected, since the server is shutting down.
    pub(crate) fn is_draining(&self) -> bool {
        self.0.draining.load(Ordering::SeqCst)
    }

    /// Admits a call, or rejects it when a limit is reached or the server is shutting down.
    fn try_admit(&self, skill: &Arc<HostedSkill>) -> Result<Permit, Overloaded> {
        let running = self.0.running.token();
        // A shutdown that begins after this check waits for `running`.
        if self.is_draining() {
            return Err(Overloaded::Stopping);
        }
        Permit::try_acquire(&self.0.calls, skill, running)
    }

    /// Runs an admitted call and counts its outcome. Dropping the future cancels the call.
    ///
    /// A call that outlasts the graceful shutdown of a port is cancelled and rejected.
    pub(crate) async fn call(&self, call: Call, permit: &mut Permit) -> Result<CallOutcome, Overloaded> {
        let skill = Arc::clone(permit.skill());
        let outcome = tokio::select! {
            biased;
            outcome = self.0.skills.call_in(permit.slot(), skill.runnable(), call) => Ok(outcome),
            () = self.0.cut.cancelled() => Err(Overloaded::Stopping),
        };
        #[cfg(feature = "http")]
        permit.ended(&outcome);
        outcome
    }
}

#[cfg(feature = "http")]
impl Service {
    /// The limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Begins the graceful shutdown: new calls are rejected from now on.
    pub(crate) fn drain(&self) {
        self.0.draining.store(true, Ordering::SeqCst);
    }

    /// Cancelled when calls and bodies that still run are given up.
    pub(crate) fn cut(&self) -> &CancellationToken {
        &self.0.cut
    }

    /// Admits a call, or rejects it when a limit is reached or the server is shutting down.
    pub(crate) fn admit(&self, skill: &Arc<HostedSkill>) -> Result<Permit, Overloaded> {
        self.try_admit(skill)
            .inspect_err(|_| self.rejected(Overloaded::CODE))
    }

    /// Resolves once no call holds a permit. Threads that go on after their calls are not waited for.
    pub(crate) async fn idle(&self) {
        self.0.running.wait().await;
    }

    /// The metrics.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Counts a request that was rejected before a skill was called.
    pub(crate) fn rejected(&self, code: &str) {
        self.metrics().rejected(code);
    }

    /// The metrics as Prometheus reads them.
    pub(crate) fn metrics_text(&self) -> Result<String, std::fmt::Error> {
        self.0.hosted.values().for_each(|skill| skill.update_metrics());
        self.metrics().text()
    }

    /// Why the server is not ready; empty when it is.
    pub(crate) async fn not_ready_reasons(&self) -> Vec<serde_json::Value> {
        if self.is_draining() {
            return vec![serde_json::json!({"code": "draining", "message": "the server is stopping"})];
        }
        self.0.readiness.reasons().await
    }

    /// The memory for bodies that are being received.
    pub(crate) fn body_memory(&self) -> &Semaphore {
        &self.0.body_memory
    }
}
