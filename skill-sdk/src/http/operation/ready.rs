//! Whether a host can do its work.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::context::Environment;
use crate::pipeline::Host;

/// How long an answer counts, so that probes cost nothing however often they come.
const FRESH: Duration = Duration::from_secs(1);

/// How long a probe waits for what is being checked.
const PATIENCE: Duration = Duration::from_secs(1);

/// Gives the reason why a host is not ready, as a code and a text, or `None`. It must answer at once.
pub(crate) type Probe = Arc<dyn Fn() -> Option<(&'static str, &'static str)> + Send + Sync>;

/// What must be there before a host is ready.
pub(super) struct Readiness {
    host: Host,
    environment: Environment,
    probes: Vec<Probe>,
    secrets: BTreeSet<&'static str>,
    config: BTreeSet<&'static str>,
    checked: Mutex<Checked>,
}

#[derive(Default)]
struct Checked {
    last: Option<(Instant, Vec<Value>)>,
    /// A check that takes longer than a probe waits goes on.
    running: Option<JoinHandle<Vec<Value>>>,
}

impl Readiness {
    pub(super) fn new(host: &Host, environment: Environment, probes: Vec<Probe>) -> Self {
        let asks = || host.iter().map(|runnable| runnable.skill().declaration().asks());
        Self {
            host: host.clone(),
            environment,
            probes,
            secrets: asks().flat_map(|asks| asks.secrets.iter().copied()).collect(),
            config: asks().flat_map(|asks| asks.config.iter().copied()).collect(),
            checked: Mutex::default(),
        }
    }

    /// Why the host is not ready; nothing when it is.
    pub(super) async fn reasons(&self) -> Vec<Value> {
        let probed = self.probes.iter().filter_map(|probe| probe());
        let mut reasons: Vec<Value> = probed
            .map(|(code, message)| json!({"code": code, "message": message}))
            .collect();
        reasons.extend(self.missing().await);
        reasons
    }

    /// What is missing of what skills declare.
    async fn missing(&self) -> Vec<Value> {
        let mut checked = self.checked.lock().await;
        if let Some((at, reasons)) = &checked.last
            && at.elapsed() < FRESH
        {
            return reasons.clone();
        }
        let mut running = match checked.running.take() {
            Some(running) => running,
            None => tokio::spawn(check(
                self.host.clone(),
                self.environment.clone(),
                self.secrets.clone(),
                self.config.clone(),
            )),
        };
        let reasons = match timeout(PATIENCE, &mut running).await {
            Ok(Ok(reasons)) => reasons,
            // It cannot panic; a runtime that shuts down drops it.
            Ok(Err(_)) => vec![json!({"code": "checking", "message": "the check was given up"})],
            Err(_) => {
                checked.running = Some(running);
                vec![json!({"code": "checking", "message": "secrets and resources are being checked"})]
            }
        };
        checked.last = Some((Instant::now(), reasons.clone()));
        reasons
    }
}

async fn check(
    host: Host,
    environment: Environment,
    secrets: BTreeSet<&'static str>,
    config: BTreeSet<&'static str>,
) -> Vec<Value> {
    let files = environment.clone();
    // Secrets may be files, on a disk that does not answer.
    let read = tokio::task::spawn_blocking(move || {
        let missing = |name: &&str| files.secret(name).is_err();
        let secrets: Vec<&str> = secrets.into_iter().filter(missing).collect();
        let missing = |name: &&str| files.config(name).is_none_or(|value| value.is_empty());
        let config: Vec<&str> = config.into_iter().filter(missing).collect();
        (secrets, config)
    });
    let (secrets, config) = read.await.unwrap_or_default();
    let resources = host.unavailable_resources(&environment).await;
    let mut reasons = Vec::new();
    let mut reason = |code: &str, message: &str, names: Vec<&str>| {
        if !names.is_empty() {
            reasons.push(json!({"code": code, "message": message, "names": names}));
        }
    };
    reason("secret_missing", "declared secrets cannot be read", secrets);
    reason("config_missing", "declared parameters are not set", config);
    reason("resource_unavailable", "resources cannot be built", resources);
    reasons
}

/// The details of an answer that says no.
pub(super) fn details(reasons: &[Value]) -> Value {
    json!({"reasons": reasons})
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readiness")
            .field("secrets", &self.secrets)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
