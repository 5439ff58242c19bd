//! What all servers share: admission of calls, calls in flight, graceful shutdown, readiness, metrics.
//!
//! A server makes one [`Service`]. For every call it takes a [`Permit`], runs the call with [`Service::call`], and drops the
//! permit once the response is written.

#![cfg_attr(
    not(feature = "http"),
    allow(
        dead_code,
        unreachable_pub,
        reason = "a server over a pipe needs admission only; readiness and the limits of a port come with HTTP"
    )
)]

mod admission;
#[cfg(feature = "http")]
mod guard;
mod in_flight;
mod limits;
mod members;
#[cfg(feature = "http")]
mod metrics;
#[cfg(feature = "http")]
mod readiness;
mod shutdown;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

pub(crate) use self::admission::{HostedSkill, Overloaded, Permit, semaphore};
#[cfg(feature = "http")]
pub use self::guard::ConfigError;
#[cfg(feature = "http")]
pub(crate) use self::guard::Guard;
pub(crate) use self::in_flight::{Id, InFlight, InFlightGuard};
pub use self::limits::Limits;
#[cfg(feature = "host")]
pub(crate) use self::limits::flags;
pub(crate) use self::members::Members;
#[cfg(feature = "http")]
pub(crate) use self::metrics::Metrics;
#[cfg(feature = "http")]
pub(crate) use self::readiness::Probe;
#[cfg(feature = "http")]
use self::readiness::Readiness;
pub(crate) use self::shutdown::Shutdown;
use crate::context::Environment;
use crate::error::SkillError;
use crate::pipeline::{Call, CallOutcome, SkillSet};

/// What the parts of a server share. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub(crate) struct Service(Arc<Inner>);

struct Inner {
    skills: SkillSet,
    limits: Limits,
    environment: Environment,
    /// By `name@version`.
    hosted: HashMap<String, Arc<HostedSkill>>,
    /// One permit for each call that may run.
    calls: Arc<Semaphore>,
    /// The calls that run, without the threads that go on after theirs.
    running: TaskTracker,
    #[cfg(feature = "mcp-http")]
    in_flight: InFlight,
    shutdown: Shutdown,
    #[cfg(feature = "http")]
    metrics: Metrics,
    #[cfg(feature = "http")]
    readiness: Readiness,
    /// One permit for each byte that bodies may take together while they are received.
    #[cfg(feature = "http")]
    body_memory: Semaphore,
}

impl Service {
    /// A service of these skills. Each of the probes gives a reason why the server is not ready.
    pub(crate) fn new(
        skills: SkillSet,
        limits: Limits,
        environment: Environment,
        #[cfg(feature = "http")] probes: Vec<Probe>,
    ) -> Self {
        let running = TaskTracker::new();
        running.close();
        #[cfg(feature = "http")]
        let metrics = Metrics::new();
        let mut hosted = HashMap::new();
        for runnable in skills.iter() {
            let skill = runnable.skill();
            let Some(runnable) = skills.get(skill.reference()) else {
                continue;
            };
            let limit = limits.of_skill(skill.reference(), skill.name());
            let one = HostedSkill::new(
                Arc::clone(runnable),
                limit,
                #[cfg(feature = "http")]
                metrics.of_skill(skill.reference()),
            );
            hosted.insert(skill.reference().to_owned(), Arc::new(one));
        }
        Self(Arc::new(Inner {
            hosted,
            calls: Arc::new(admission::semaphore(limits.concurrency)),
            running,
            #[cfg(feature = "mcp-http")]
            in_flight: InFlight::default(),
            shutdown: Shutdown::default(),
            #[cfg(feature = "http")]
            metrics,
            #[cfg(feature = "http")]
            readiness: Readiness::new(&skills, environment.clone(), probes),
            #[cfg(feature = "http")]
            body_memory: admission::semaphore(limits.max_body_memory),
            skills,
            limits,
            environment,
        }))
    }

    /// A service of clients over pipes, for so many calls at the same time.
    pub(crate) fn of_pipes(skills: SkillSet, concurrency: usize, environment: Environment) -> Self {
        let limits = Limits {
            concurrency,
            skill_concurrency: concurrency,
            ..Limits::default()
        };
        Self::new(
            skills,
            limits,
            environment,
            #[cfg(feature = "http")]
            Vec::new(),
        )
    }

    /// The skills.
    pub(crate) fn skills(&self) -> &SkillSet {
        &self.0.skills
    }

    /// The limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// What configuration and secrets are read from.
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

    /// The state of the graceful shutdown.
    pub(crate) fn shutdown(&self) -> &Shutdown {
        &self.0.shutdown
    }

    #[cfg(feature = "http")]
    /// Admits a call, or rejects it when a limit is reached or the server is shutting down.
    pub(crate) fn admit(&self, skill: &Arc<HostedSkill>) -> Result<Permit, Overloaded> {
        let admitted = if self.0.shutdown.is_draining() {
            Err(Overloaded::Stopping)
        } else {
            Permit::try_acquire(&self.0.calls, skill, self.0.running.token())
        };
        // A shutdown that begins after this check finds the permit taken.
        let admitted = admitted.and_then(|permit| {
            if self.0.shutdown.is_draining() {
                return Err(Overloaded::Stopping);
            }
            Ok(permit)
        });
        admitted.inspect_err(|overloaded| self.rejected(overloaded.code()))
    }

    /// Waits until a call is admitted, for clients that cannot retry: those of a pipe. It waits at most as long as the call may
    /// take, and `timeout` becomes what is left of that.
    pub(crate) async fn admit_in_turn(
        &self,
        skill: &Arc<HostedSkill>,
        timeout: &mut Option<Duration>,
    ) -> Result<Permit, SkillError> {
        let (calls, running) = (&self.0.calls, self.0.running.token());
        if let Ok(permit) = Permit::try_acquire(calls, skill, running.clone()) {
            return Ok(permit);
        }
        let seconds = skill.runnable().described().contract().timeout_seconds;
        let limit = timeout.unwrap_or(Duration::from_secs(seconds.into()));
        let began = Instant::now();
        let waited = tokio::time::timeout(limit, Permit::acquire(calls, skill, running)).await;
        *timeout = Some(limit.saturating_sub(began.elapsed()));
        waited.unwrap_or_else(|_| {
            let seconds = limit.as_secs_f64();
            let message = format!("the call waited {seconds} s for others: too many calls are running");
            Err(SkillError::retryable("timeout", message))
        })
    }

    /// Runs an admitted call and counts its outcome. Dropping the future cancels the call.
    ///
    /// A call that outlasts the graceful shutdown is cancelled and rejected.
    pub(crate) async fn call(&self, call: Call, permit: &mut Permit) -> Result<CallOutcome, Overloaded> {
        let skill = Arc::clone(permit.skill());
        tokio::select! {
            biased;
            outcome = self.0.skills.call_in(permit.slot(), skill.runnable(), call) => {
                permit.ended(&outcome);
                Ok(outcome)
            }
            () = self.0.shutdown.cut() => {
                permit.failed(Overloaded::Stopping.code());
                Err(Overloaded::Stopping)
            }
        }
    }

    /// Resolves once no call holds a permit. Threads that go on after their calls are not waited for.
    pub(crate) async fn idle(&self) {
        self.0.running.wait().await;
    }

    /// Counts a request that was rejected before a skill was called.
    #[cfg_attr(
        not(feature = "http"),
        expect(clippy::unused_self, reason = "counted with metrics")
    )]
    pub(crate) fn rejected(&self, code: &str) {
        #[cfg(feature = "http")]
        self.0.metrics.rejected(code);
        #[cfg(not(feature = "http"))]
        let _ = code;
    }
}

#[cfg(feature = "http")]
impl Service {
    /// The metrics.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// The metrics as Prometheus reads them.
    pub(crate) fn metrics_text(&self) -> Result<String, std::fmt::Error> {
        for skill in self.0.hosted.values() {
            skill.update_metrics();
        }
        self.0.metrics.text()
    }

    /// Why the server is not ready; nothing when it is.
    pub(crate) async fn not_ready_reasons(&self) -> Vec<serde_json::Value> {
        if self.0.shutdown.is_draining() {
            let message = "the host is stopping";
            return vec![serde_json::json!({"code": "draining", "message": message})];
        }
        self.0.readiness.reasons().await
    }

    /// The memory for bodies that are being received.
    pub(crate) fn body_memory(&self) -> &Semaphore {
        &self.0.body_memory
    }
}
