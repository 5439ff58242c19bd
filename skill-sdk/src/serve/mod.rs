//! What all servers share: admission of calls, calls in flight, graceful shutdown, readiness, metrics.
//!
//! A server makes one [`Service`]. For every call it takes a [`Permit`], runs the call with [`Service::call`], and drops the
//! permit once the response is written.

mod admission;
#[cfg(feature = "http")]
mod guard;
mod in_flight;
#[cfg(any(feature = "http", feature = "host"))]
mod limits;
mod members;
#[cfg(feature = "http")]
mod metrics;
mod not_hosted;
#[cfg(feature = "http")]
mod readiness;
#[cfg(feature = "http")]
mod shutdown;
#[cfg(any(feature = "mcp", feature = "host"))]
mod tool_options;

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;

pub(crate) use self::admission::{HostedSkill, Overloaded, Permit, semaphore};
#[cfg(feature = "http")]
pub use self::guard::ConfigError;
#[cfg(feature = "http")]
pub(crate) use self::guard::Guard;
pub(crate) use self::in_flight::{Id, InFlight, InFlightGuard};
#[cfg(feature = "http")]
pub use self::limits::Limits;
#[cfg(all(feature = "host", not(feature = "http")))]
pub(crate) use self::limits::Limits;
#[cfg(feature = "host")]
pub(crate) use self::limits::flags;
pub(crate) use self::members::Members;
#[cfg(feature = "http")]
pub(crate) use self::metrics::Metrics;
pub(crate) use self::not_hosted::not_hosted;
#[cfg(feature = "http")]
pub(crate) use self::readiness::Probe;
#[cfg(feature = "http")]
use self::readiness::Readiness;
#[cfg(feature = "http")]
use self::shutdown::Shutdown;
#[cfg(any(feature = "mcp", feature = "host"))]
pub use self::tool_options::{ToolOptions, ToolSchemas};
use crate::context::Environment;
use crate::error::SkillError;
use crate::pipeline::{Call, CallOutcome, Meta, Runnable, SkillSet};
use crate::registry::Skill;

/// What the parts of a server share. Cheap to clone; all clones are the same.
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
    #[cfg(feature = "mcp-http")]
    in_flight: InFlight,
    #[cfg(feature = "http")]
    port: Port,
}

/// What servers on a port have beside.
#[cfg(feature = "http")]
struct Port {
    limits: Limits,
    shutdown: Shutdown,
    metrics: Metrics,
    readiness: Readiness,
    /// One permit for each byte that bodies may take together while they are received.
    body_memory: Semaphore,
}

impl Service {
    /// A service of clients over pipes, for so many calls at the same time.
    pub(crate) fn of_pipes(skills: SkillSet, concurrency: usize, environment: Environment) -> Self {
        #[cfg(feature = "http")]
        let port = Port::new(&skills, Limits::default(), &environment, Vec::new());
        Self::build(
            skills,
            environment,
            concurrency,
            |_| concurrency,
            #[cfg(feature = "http")]
            port,
        )
    }

    fn build(
        skills: SkillSet,
        environment: Environment,
        concurrency: usize,
        limit_of: impl Fn(&Skill) -> usize,
        #[cfg(feature = "http")] port: Port,
    ) -> Self {
        let running = TaskTracker::new();
        running.close();
        let host = |runnable: &Arc<Runnable>| {
            let skill = runnable.skill();
            let hosted = HostedSkill::new(
                Arc::clone(runnable),
                limit_of(skill),
                #[cfg(feature = "http")]
                port.metrics.of_skill(skill.reference()),
            );
            (skill.reference().to_owned(), Arc::new(hosted))
        };
        let runnables = skills
            .iter()
            .filter_map(|runnable| skills.get(runnable.skill().reference()));
        Self(Arc::new(Inner {
            hosted: runnables.map(host).collect(),
            calls: Arc::new(semaphore(concurrency)),
            running,
            #[cfg(feature = "mcp-http")]
            in_flight: InFlight::default(),
            #[cfg(feature = "http")]
            port,
            environment,
            skills,
        }))
    }

    /// The skills.
    pub(crate) fn skills(&self) -> &SkillSet {
        &self.0.skills
    }

    /// What configuration and secrets are read from.
    pub(crate) fn environment(&self) -> &Environment {
        &self.0.environment
    }

    /// The skill `name@version`, if it is hosted.
    pub(crate) fn get(&self, reference: &str) -> Option<&Arc<HostedSkill>> {
        self.0.hosted.get(reference)
    }

    /// The failure of a call of `reference`, which is not hosted.
    pub(crate) fn not_hosted(&self, reference: &str) -> SkillError {
        not_hosted(reference, self.0.hosted.keys().map(String::as_str))
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
        let (calls, running) = (&self.0.calls, self.0.running.token());
        if let Ok(permit) = Permit::try_acquire(calls, skill, running.clone()) {
            return Ok(permit);
        }
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

    /// Runs an admitted call and counts its outcome. Dropping the future cancels the call.
    ///
    /// A call that outlasts the graceful shutdown of a port is cancelled and rejected.
    pub(crate) async fn call(&self, call: Call, permit: &mut Permit) -> Result<CallOutcome, Overloaded> {
        let skill = Arc::clone(permit.skill());
        let outcome = self.0.skills.call_in(permit.slot(), skill.runnable(), call);
        #[cfg(feature = "http")]
        let outcome = tokio::select! {
            biased;
            outcome = outcome => Ok(outcome),
            () = self.shutdown().cut() => Err(Overloaded::Stopping),
        };
        #[cfg(not(feature = "http"))]
        let outcome = Ok(outcome.await);
        permit.ended(&outcome);
        outcome
    }
}

#[cfg(feature = "http")]
impl Port {
    fn new(skills: &SkillSet, limits: Limits, environment: &Environment, probes: Vec<Probe>) -> Self {
        Self {
            shutdown: Shutdown::default(),
            metrics: Metrics::new(),
            readiness: Readiness::new(skills, environment.clone(), probes),
            body_memory: semaphore(limits.max_body_memory),
            limits,
        }
    }
}

#[cfg(feature = "http")]
impl Service {
    /// A service on a port. Each of the probes gives a reason why the server is not ready.
    pub(crate) fn new(
        skills: SkillSet,
        limits: &Limits,
        environment: Environment,
        probes: Vec<Probe>,
    ) -> Self {
        let port = Port::new(&skills, limits.clone(), &environment, probes);
        let limit_of = |skill: &Skill| limits.of_skill(skill.reference(), skill.name());
        Self::build(skills, environment, limits.concurrency, limit_of, port)
    }

    /// The limits.
    pub(crate) fn limits(&self) -> &Limits {
        &self.0.port.limits
    }

    /// The state of the graceful shutdown.
    pub(crate) fn shutdown(&self) -> &Shutdown {
        &self.0.port.shutdown
    }

    /// Admits a call, or rejects it when a limit is reached or the server is shutting down.
    pub(crate) fn admit(&self, skill: &Arc<HostedSkill>) -> Result<Permit, Overloaded> {
        let admitted = if self.shutdown().is_draining() {
            Err(Overloaded::Stopping)
        } else {
            Permit::try_acquire(&self.0.calls, skill, self.0.running.token())
        };
        // A shutdown that begins after this check finds the permit taken.
        let admitted = admitted.and_then(|permit| {
            if self.shutdown().is_draining() {
                return Err(Overloaded::Stopping);
            }
            Ok(permit)
        });
        admitted.inspect_err(|_| self.rejected(Overloaded::CODE))
    }

    /// Resolves once no call holds a permit. Threads that go on after their calls are not waited for.
    pub(crate) async fn idle(&self) {
        self.0.running.wait().await;
    }

    /// The metrics.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.port.metrics
    }

    /// Counts a request that was rejected before a skill was called.
    pub(crate) fn rejected(&self, code: &str) {
        self.metrics().rejected(code);
    }

    /// The metrics as Prometheus reads them.
    pub(crate) fn metrics_text(&self) -> Result<String, std::fmt::Error> {
        for skill in self.0.hosted.values() {
            skill.update_metrics();
        }
        self.metrics().text()
    }

    /// Why the server is not ready; nothing when it is.
    pub(crate) async fn not_ready_reasons(&self) -> Vec<serde_json::Value> {
        if self.shutdown().is_draining() {
            let message = "the host is stopping";
            return vec![serde_json::json!({"code": "draining", "message": message})];
        }
        self.0.port.readiness.reasons().await
    }

    /// The memory for bodies that are being received.
    pub(crate) fn body_memory(&self) -> &Semaphore {
        &self.0.port.body_memory
    }
}
