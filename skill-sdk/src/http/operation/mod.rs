//! What all hosts that listen on a port share: admission of calls, drain, readiness, metrics.
//!
//! A host makes one [`Operation`], calls skills through it, mounts its [`routes`](Operation::routes), and hands it to the
//! [server](super::server::run).

mod latency;
mod lifecycle;
mod load;
mod metrics;
mod ready;
mod routes;

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

pub(super) use self::lifecycle::Lifecycle;
use self::load::Load;
pub(crate) use self::load::{Hosted, Refusal};
pub(super) use self::metrics::Metrics;
pub(crate) use self::ready::Probe;
use self::ready::Readiness;
pub(crate) use self::routes::is_of_operation;
use super::Limits;
use crate::context::Environment;
#[cfg(feature = "mcp")]
use crate::pipeline::Opened;
use crate::pipeline::{Abandoned, Call, CallOutcome, SkillSet};

/// What all hosts that listen on a port share. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub(crate) struct Operation(Arc<Inner>);

struct Inner {
    host: SkillSet,
    limits: Limits,
    environment: Environment,
    /// By `name@version`.
    hosted: HashMap<String, Arc<Hosted>>,
    lifecycle: Lifecycle,
    load: Load,
    metrics: Metrics,
    readiness: Readiness,
}

impl Operation {
    /// The operation of a host of these skills. Each of the probes gives a reason why the host is not ready.
    pub(crate) fn new(host: SkillSet, limits: Limits, environment: Environment, probes: Vec<Probe>) -> Self {
        let abandoned = Abandoned::default();
        let metrics = Metrics::new(
            host.iter().map(|runnable| runnable.skill().reference()),
            &abandoned,
        );
        let mut hosted = HashMap::new();
        for runnable in host.iter() {
            let skill = runnable.skill();
            let Some(runnable) = host.get(skill.reference()) else {
                continue;
            };
            let limit = limits.of_skill(skill.reference(), skill.name());
            let counters = metrics.of_skill(skill.reference());
            let one = Hosted::new(Arc::clone(runnable), limit, counters);
            hosted.insert(skill.reference().to_owned(), Arc::new(one));
        }
        let load = Load::new(&limits, abandoned);
        let readiness = Readiness::new(&host, environment.clone(), probes);
        Self(Arc::new(Inner {
            host,
            limits,
            environment,
            hosted,
            lifecycle: Lifecycle::default(),
            load,
            metrics,
            readiness,
        }))
    }

    /// The skills.
    pub(crate) fn host(&self) -> &SkillSet {
        &self.0.host
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
    pub(crate) fn get(&self, reference: &str) -> Option<&Arc<Hosted>> {
        self.0.hosted.get(reference)
    }

    /// Calls a skill, unless too much is going on or the host is stopping. What came of it is counted.
    ///
    /// Dropping the future cancels the call. A call that outlasts the drain is cancelled and refused.
    pub(crate) async fn call(&self, hosted: &Hosted, call: Call) -> Result<CallOutcome, Refusal> {
        let work = async {
            let opened = self.0.host.open(hosted.runnable(), call);
            hosted.run(opened).await
        };
        self.admitted(hosted, work).await
    }

    /// As [`call`](Self::call), for a call whose context is known to others, who can end it.
    #[cfg(feature = "mcp")]
    pub(crate) async fn run(&self, hosted: &Hosted, opened: Opened) -> Result<CallOutcome, Refusal> {
        self.admitted(hosted, hosted.run(opened)).await
    }

    async fn admitted(
        &self,
        hosted: &Hosted,
        work: impl Future<Output = CallOutcome>,
    ) -> Result<CallOutcome, Refusal> {
        let admitted = self
            .0
            .load
            .admit(hosted, &self.0.lifecycle)
            .inspect_err(|refusal| {
                self.refused(refusal.code());
            })?;
        let work = std::pin::pin!(work);
        tokio::select! {
            biased;
            completed = work => {
                admitted.ended(&completed);
                Ok(completed)
            }
            () = self.0.lifecycle.cut() => {
                admitted.failed(Refusal::Stopping.code());
                Err(Refusal::Stopping)
            }
        }
    }

    /// Counts a request that was refused before a skill was called.
    pub(crate) fn refused(&self, code: &str) {
        self.0.metrics.refused(code);
    }

    pub(super) fn lifecycle(&self) -> &Lifecycle {
        &self.0.lifecycle
    }

    pub(super) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    pub(super) fn load(&self) -> &Load {
        &self.0.load
    }
}
