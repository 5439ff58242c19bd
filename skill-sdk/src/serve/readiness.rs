//! Readiness: whether a server can do its work.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::context::Environment;
use crate::pipeline::SkillSet;

/// How long a result is cached, so that frequent probes are cheap.
const FRESH: Duration = Duration::from_secs(1);

/// How long a probe waits for the check: half of the default timeout of Kubernetes probes.
const PATIENCE: Duration = Duration::from_millis(500);

/// Gives the reason why a server is not ready, as a code and a text, or `None`. It must return at once.
pub(crate) type Probe = Arc<dyn Fn() -> Option<(&'static str, &'static str)> + Send + Sync>;

/// What a server needs before it is ready.
pub(super) struct Readiness {
    skills: SkillSet,
    environment: Environment,
    probes: Vec<Probe>,
    checked: Mutex<Checked>,
}

#[derive(Default)]
struct Checked {
    last: Option<(Instant, Vec<Value>)>,
    /// The check in progress. It continues when the probe times out or disconnects. There is one at a time.
    running: Option<JoinHandle<Vec<Value>>>,
}

impl Readiness {
    pub(super) fn new(skills: &SkillSet, environment: Environment, probes: Vec<Probe>) -> Self {
        Self {
            skills: skills.clone(),
            environment,
            probes,
            checked: Mutex::default(),
        }
    }

    /// Why the server is not ready; empty when it is.
    pub(super) async fn reasons(&self) -> Vec<Value> {
        let probed = self.probes.iter().filter_map(|probe| probe());
        let mut reasons: Vec<Value> = probed
            .map(|(code, message)| json!({"code": code, "message": message}))
            .collect();
        reasons.extend(self.missing().await);
        reasons
    }

    /// The declared secrets, parameters and states that are missing.
    async fn missing(&self) -> Vec<Value> {
        let mut checked = self.checked.lock().await;
        if let Some((at, reasons)) = &checked.last
            && at.elapsed() < FRESH
        {
            return reasons.clone();
        }
        let begin = || tokio::spawn(check(self.skills.clone(), self.environment.clone()));
        let running = checked.running.get_or_insert_with(begin);
        let reasons = match timeout(PATIENCE, running).await {
            Ok(ended) => {
                checked.running = None;
                ended.unwrap_or_else(|_| given_up())
            }
            Err(_) => vec![json!({"code": "checking", "message": "secrets and states are being checked"})],
        };
        checked.last = Some((Instant::now(), reasons.clone()));
        reasons
    }
}

/// The check failed, so the server is not ready.
fn given_up() -> Vec<Value> {
    vec![json!({"code": "checking", "message": "the check was given up"})]
}

/// Looks for all that skills declare.
async fn check(skills: SkillSet, environment: Environment) -> Vec<Value> {
    let (declaring, files) = (skills.clone(), environment.clone());
    // Secrets may be files, on a disk that does not answer.
    let looked = tokio::task::spawn_blocking(move || missing(&declaring, &files)).await;
    let Ok([secrets, config]) = looked else {
        return given_up();
    };
    let states = skills.unavailable_states(&environment).await;
    let reasons = [
        (
            "secret_missing",
            "declared secrets cannot be read",
            Vec::from_iter(secrets),
        ),
        (
            "config_missing",
            "declared configuration is not set",
            Vec::from_iter(config),
        ),
        ("state_unavailable", "states cannot be built", states),
    ];
    reasons
        .into_iter()
        .filter(|(.., names)| !names.is_empty())
        .map(|(code, message, names)| json!({"code": code, "message": message, "names": names}))
        .collect()
}

/// The names of the declared secrets and parameters that cannot be read.
fn missing(skills: &SkillSet, environment: &Environment) -> [BTreeSet<&'static str>; 2] {
    let [mut secrets, mut config] = [BTreeSet::new(), BTreeSet::new()];
    for runnable in skills.iter() {
        let asks = runnable.skill().declaration().asks();
        let unreadable = |name: &&str| environment.secret(name).is_err();
        secrets.extend(asks.secrets.iter().copied().filter(unreadable));
        let unset = |name: &&str| environment.config(name).is_none_or(|value| value.is_empty());
        config.extend(asks.config.iter().copied().filter(unset));
    }
    [secrets, config]
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Handle;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::context::{StateDeclaration, States, state_asynchronous};
    use crate::contract::Origin;
    use crate::error::SkillError;

    static GATE: Semaphore = Semaphore::const_new(0);

    struct Slow;

    async fn slow(_: Environment) -> Result<Slow, SkillError> {
        GATE.acquire().await.unwrap().forget();
        Ok(Slow)
    }

    #[tokio::test(start_paused = true)]
    async fn probes_that_go_away_leave_one_check() {
        let origin = Origin {
            package: "a",
            package_version: "0",
            module: "a",
            function: "slow",
            file: "a.rs",
            line: 1,
            column: 1,
        };
        let build: fn(Environment) -> _ = |environment| state_asynchronous(slow(environment));
        let declaration = StateDeclaration::new(origin, Box::leak(Box::new(build)));
        let states = States::new([&*Box::leak(Box::new(declaration))]);
        let host = SkillSet::with_states([], states).unwrap();
        let readiness = Readiness::new(&host, Environment::from_vars([]), Vec::new());
        let tasks = || Handle::current().metrics().num_alive_tasks();
        let before = tasks();
        for _ in 0..5 {
            let left = timeout(Duration::from_millis(10), readiness.reasons()).await;
            assert!(left.is_err(), "nothing can be known yet: {left:?}");
            // The check, and what builds the state.
            assert_eq!(tasks(), before + 2);
        }
        // A probe that waits gets its response before it times out, and the next ones at once.
        let began = Instant::now();
        assert_eq!(readiness.reasons().await[0]["code"], "checking");
        assert_eq!(readiness.reasons().await[0]["code"], "checking");
        assert_eq!(began.elapsed(), PATIENCE);
        tokio::time::sleep(FRESH).await;
        GATE.add_permits(1);
        assert_eq!(readiness.reasons().await, Vec::<Value>::new());
        assert_eq!(tasks(), before);
    }

    #[tokio::test]
    async fn a_check_that_panics_makes_nobody_ready() {
        let skills = SkillSet::with_states([], States::default()).unwrap();
        let readiness = Readiness::new(&skills, Environment::from_vars([]), Vec::new());
        readiness.checked.lock().await.running = Some(tokio::spawn(async { panic!("it cannot be read") }));
        assert_eq!(readiness.reasons().await, given_up());
    }
}
