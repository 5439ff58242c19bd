//! What all clients of a host share.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use tokio::runtime::Handle;

use super::hosted::{Hosted, Load};
use super::watch::Watch;
use super::{LocalServer, answer, hosted};
use crate::context::Environment;
use crate::pipeline::SkillSet;

/// What all clients of a host share.
pub(super) struct Shared {
    pub(super) host: SkillSet,
    pub(super) table: HashMap<String, Arc<Hosted>>,
    pub(super) load: Arc<Load>,
    pub(super) line_limit: usize,
    pub(super) environment: Environment,
    pub(super) watch: Arc<Watch>,
    /// Where calls run that wait for something, or that are slow.
    pub(super) runtime: Handle,
    skills: OnceLock<Vec<u8>>,
}

impl Shared {
    pub(super) fn new(local: LocalServer, runtime: Handle) -> std::io::Result<Arc<Self>> {
        Ok(Arc::new(Self {
            table: hosted::table(&local.host),
            load: Arc::new(Load::new(local.concurrency)),
            line_limit: local.line_limit,
            environment: local.environment,
            watch: Watch::start()?,
            runtime,
            skills: OnceLock::new(),
            host: local.host,
        }))
    }

    /// What is hosted, as JSON.
    pub(super) fn skills(&self) -> &[u8] {
        self.skills.get_or_init(|| answer::skills(&self.host))
    }
}
