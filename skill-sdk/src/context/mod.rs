//! The context of a call: what a skill may use, and the [`Meta`] from which a server makes it.
//!
//! A skill takes a [`SkillContext`] as a parameter. The other types are for programs that run skills themselves.
//!
//! ```
//! use std::time::Duration;
//!
//! use serde_json::json;
//! use skill_sdk::context::{Meta, settings_values};
//!
//! let mut meta = Meta::new("queue");
//! meta.idempotency_key = Some("order-4711".to_owned());
//! meta.timeout = Some(Duration::from_secs(30));
//! meta.settings = settings_values(Some(json!({"package": "acme", "values": {"currency": "EUR"}})));
//! assert_eq!(meta.settings["currency"], "EUR");
//! ```
//!
//! Guides: `docs/guides/settings-and-secrets.md`, `docs/guides/shared-state.md`, `docs/guides/elicitation.md`,
//! `docs/guides/progress-and-attachments.md`. Reference: `docs/reference/context.md`.

#[cfg(feature = "core")]
pub(crate) mod artifacts;
pub(crate) mod caller;
#[cfg(feature = "connections")]
pub(crate) mod connection;
mod cost;
pub(crate) mod input;
#[cfg(feature = "core")]
pub(crate) mod knowledge;
#[cfg(feature = "llm")]
pub(crate) mod llm;
mod log_id;
mod meta;
mod report;
mod settings;
mod state;
mod trace;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

pub(crate) use self::caller::Caller;
#[cfg(feature = "runtime")]
pub(crate) use self::cost::Cost;
#[cfg(not(feature = "runtime"))]
use self::cost::Cost;
pub(crate) use self::input::InputChannel;
#[cfg(any(feature = "mcp", feature = "testing"))]
pub(crate) use self::input::Responding;
pub use self::input::{InputKind, InputRequest};
pub(crate) use self::log_id::id_for_log;
pub(crate) use self::meta::DeclaredNames;
pub use self::meta::{Meta, Services};
pub use self::report::{NoticeLevel, ReportSink};
pub use self::settings::settings_values;
#[doc(hidden)]
pub use self::state::{Build, StateDeclaration, state_asynchronous, state_blocking};
pub use self::state::{State, States};
pub use self::trace::TraceContext;
#[cfg(feature = "telemetry")]
pub(crate) use self::trace::{follow, recorded};
pub(crate) use crate::environment::{Environment, Secret};
use crate::error::SkillError;
pub(crate) use crate::platform::LlmUsage;

/// The context of one call: caller, deadline, configuration, secrets, cost.
///
/// A skill takes it as a parameter, by reference or by value. It is cheap to clone and may be used in other tasks and threads. All
/// clones refer to the same call.
///
/// ```
/// use skill_sdk::{SkillContext, SkillError, skill};
///
/// /// How many pages a document has.
/// #[skill("doc.pages", version = "1", side_effects = "none", risk = "low")]
/// fn pages(text: String, ctx: &SkillContext) -> Result<u64, SkillError> {
///     let mut pages = 0;
///     for _ in text.split('\u{c}') {
///         ctx.check_deadline()?;
///         pages += 1;
///     }
///     ctx.add_cost("page", 1.0);
///     Ok(pages)
/// }
/// ```
#[derive(Clone)]
pub struct SkillContext(Arc<Inner>);

struct Inner {
    skill: Arc<str>,
    meta: Meta,
    /// When the call times out.
    deadline: Option<Instant>,
    states: Arc<States>,
    /// The names that the skill declares.
    declared: DeclaredNames,
    undeclared: Mutex<Vec<String>>,
    /// The cost of the call, unless `meta` has a shared sum.
    cost: Mutex<Cost>,
    #[cfg(feature = "runtime")]
    cancellation: tokio_util::sync::CancellationToken,
    /// The span in which the call runs.
    #[cfg(feature = "telemetry")]
    span: std::sync::OnceLock<tracing::Span>,
}

impl SkillContext {
    /// A context for calling the function of `skill` (`name@version`) directly. Servers create their own.
    pub fn new(skill: impl Into<Arc<str>>, meta: Meta) -> Self {
        Self::of_call(skill.into(), DeclaredNames::default(), Arc::default(), meta)
    }

    /// The context of a call that starts now.
    pub(crate) fn of_call(skill: Arc<str>, declared: DeclaredNames, states: Arc<States>, meta: Meta) -> Self {
        Self(Arc::new(Inner {
            skill,
            // A timeout out of the range of the clock never passes.
            deadline: meta
                .timeout
                .and_then(|timeout| Self::now().checked_add(timeout.saturating_sub(meta.waited))),
            states,
            declared,
            undeclared: Mutex::default(),
            cost: Mutex::default(),
            meta,
            #[cfg(feature = "runtime")]
            cancellation: tokio_util::sync::CancellationToken::new(),
            #[cfg(feature = "telemetry")]
            span: std::sync::OnceLock::new(),
        }))
    }

    /// The skill that is called: `name@version`.
    pub fn skill(&self) -> &str {
        &self.0.skill
    }

    /// The protocol of the call: `http`, `local`, `test`, ….
    pub fn protocol(&self) -> &str {
        self.0.meta.protocol
    }

    /// The id of the call, set by the caller.
    pub fn invocation_id(&self) -> Option<&str> {
        self.0.meta.invocation_id.as_deref()
    }

    /// The idempotency key: a retry with the same key must not cause a second external effect.
    ///
    /// An empty key counts as missing: two calls with empty keys are not retries of each other.
    pub fn idempotency_key(&self) -> Option<&str> {
        let key = self.0.meta.idempotency_key.as_deref();
        key.filter(|key| !key.is_empty())
    }

    /// The idempotency key of a call that must have one.
    ///
    /// # Errors
    ///
    /// `idempotency_key_missing` (terminal) if the call has no key or an empty one.
    pub fn require_idempotency_key(&self) -> Result<&str, SkillError> {
        self.idempotency_key().ok_or_else(|| {
            SkillError::terminal(
                "idempotency_key_missing",
                format!("{} must be called with an idempotency key", self.skill()),
            )
        })
    }

    /// The clock of deadlines: the clock of the runtime, which a test may pause.
    #[cfg(feature = "runtime")]
    pub(crate) fn now() -> Instant {
        tokio::time::Instant::now().into_std()
    }

    #[cfg(not(feature = "runtime"))]
    fn now() -> Instant {
        Instant::now()
    }

    /// The time until the call times out, zero after the timeout. `None` if the call has no timeout.
    pub fn remaining(&self) -> Option<Duration> {
        let deadline = self.0.deadline?;
        Some(deadline.saturating_duration_since(Self::now()))
    }

    /// Fails if the call is over, so that long work can stop early.
    ///
    /// # Errors
    ///
    /// `timeout` if the call timed out, `cancelled` if the caller disconnected. Both are retryable.
    pub fn check_deadline(&self) -> Result<(), SkillError> {
        match self.remaining() {
            Some(Duration::ZERO) => Err(self.timeout()),
            _ if self.is_cancelled() => Err(SkillError::retryable(
                "cancelled",
                format!("{}: the caller disconnected", self.skill()),
            )),
            _ => Ok(()),
        }
    }

    /// The failure of a call that timed out.
    pub(crate) fn timeout(&self) -> SkillError {
        let what = match self.0.meta.time_limit_in_words() {
            Some(limit) => format!("the call took longer than {limit}"),
            None => "the call timed out".to_owned(),
        };
        SkillError::retryable("timeout", format!("{}: {what}", self.skill()))
    }

    /// Whether the call timed out or the caller disconnected.
    pub fn is_cancelled(&self) -> bool {
        #[cfg(feature = "runtime")]
        return self.0.cancellation.is_cancelled();
        #[cfg(not(feature = "runtime"))]
        false
    }

    /// Resolves when the call times out or the caller disconnects. An asynchronous skill needs it only for work in other tasks:
    /// its own future is dropped.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + Sync + use<> {
        #[cfg(feature = "runtime")]
        return self.0.cancellation.clone().cancelled_owned();
        #[cfg(not(feature = "runtime"))]
        std::future::pending()
    }

    /// The result of `work`, unless the call times out or the caller disconnects.
    #[cfg(any(feature = "core", feature = "llm"))]
    pub(crate) async fn bounded<T, E: From<SkillError>>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        self.check_deadline()?;
        let time = self.remaining().unwrap_or(Duration::MAX);
        tokio::select! {
            biased;
            result = work => result,
            () = tokio::time::sleep(time) => Err(self.timeout().into()),
            () = self.cancelled() => Err(self.given_up().into()),
        }
    }

    /// The failure of a cancelled call.
    #[cfg(feature = "runtime")]
    fn given_up(&self) -> SkillError {
        self.check_deadline().err().unwrap_or_else(|| self.timeout())
    }

    /// Cancels the call for all clones of the context.
    #[cfg(feature = "runtime")]
    pub(crate) fn cancel(&self) {
        self.0.cancellation.cancel();
    }

    /// The environment variable `name` of the call.
    pub fn config(&self, name: &str) -> Option<String> {
        self.note("config", name, self.0.declared.config);
        self.0.meta.environment.config(name)
    }

    /// The environment variable `name`, which must be set.
    ///
    /// # Errors
    ///
    /// `config_missing` (retryable) if the variable is not set or empty; `details.config` has its name.
    pub fn require_config(&self, name: &str) -> Result<String, SkillError> {
        self.config(name)
            .filter(|value| !value.is_empty())
            .ok_or_else(|| {
                SkillError::retryable(
                    "config_missing",
                    format!("the environment variable {name} is not set"),
                )
                .with_details(serde_json::json!({"config": name}))
            })
    }

    /// The environment variable `name`, or `default` if it is not set.
    pub fn config_or(&self, name: &str, default: impl Into<String>) -> String {
        self.config(name).unwrap_or_else(|| default.into())
    }

    /// The secret `name`: the environment variable of that name, or the file `name` in the secrets directory. For
    /// the rules see [`secrets`](crate::secrets).
    ///
    /// # Errors
    ///
    /// Those of [`read_secret`](crate::secrets::read_secret): `config_missing` and `secret_unreadable` (retryable),
    /// `secret_name_invalid` and `secret_file_rejected` (terminal).
    pub fn secret(&self, name: &str) -> Result<Secret, SkillError> {
        self.note("secrets", name, self.0.declared.secrets);
        self.0.meta.environment.secret(name)
    }

    /// Records a name that the skill uses and does not declare, if the skill declares any name of this kind.
    fn note(&self, kind: &'static str, name: &str, declared: &[&str]) {
        if declared.is_empty() || declared.contains(&name) {
            return;
        }
        #[cfg(feature = "runtime")]
        tracing::warn!(kind, name, "the skill uses a name that it does not declare");
        let mut undeclared = self.0.undeclared.lock().unwrap_or_else(PoisonError::into_inner);
        let what = format!("{kind} = [\"{name}\"]");
        if !undeclared.contains(&what) {
            undeclared.push(what);
        }
    }

    /// The names that the skill used and does not declare, as arguments of the attribute.
    #[cfg(feature = "runtime")]
    pub(crate) fn undeclared(&self) -> Vec<String> {
        self.0
            .undeclared
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The environment of the call: the source of [`config`](Self::config) and [`secret`](Self::secret).
    pub fn environment(&self) -> &Environment {
        &self.0.meta.environment
    }

    /// The package settings of the call. Empty if the caller did not send any.
    pub fn settings(&self) -> &Map<String, Value> {
        &self.0.meta.settings
    }

    /// The package settings, deserialized.
    ///
    /// # Errors
    ///
    /// `settings_invalid` (terminal) if the settings cannot be deserialized into `T`.
    pub fn settings_as<T: DeserializeOwned>(&self) -> Result<T, SkillError> {
        T::deserialize(Value::Object(self.settings().clone())).map_err(|error| {
            SkillError::terminal(
                "settings_invalid",
                format!("the package settings are invalid: {error}"),
            )
        })
    }

    /// Adds `amount` of `unit`, such as `page`, to the cost of the call. Amounts of one unit are summed up. An amount that is not finite is ignored.
    pub fn add_cost(&self, unit: impl Into<String>, amount: f64) {
        self.cost().add(unit.into(), amount);
    }

    /// Adds one request to a model to the cost of the call.
    pub fn add_llm_usage(&self, usage: &LlmUsage) {
        self.cost().add_llm(usage);
    }

    /// The cost document so far; `None` without any cost.
    pub fn cost_document(&self) -> Option<Value> {
        self.cost().document()
    }

    /// The sums. A panic while the lock is held cannot leave them half-written.
    fn cost(&self) -> MutexGuard<'_, Cost> {
        let cost = self.0.meta.cost.as_deref().unwrap_or(&self.0.cost);
        cost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The authenticated caller; `None` if the server does not authenticate callers.
    pub fn caller(&self) -> Option<&Caller> {
        self.0.meta.caller.as_deref()
    }

    /// The shared value of type `T`, which a function marked `#[skill_sdk::state]` builds once per process, on first use.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use skill_sdk::{SkillContext, SkillError, skill, state};
    ///
    /// struct Tickets(AtomicU64);
    ///
    /// #[state]
    /// fn tickets() -> Tickets {
    ///     Tickets(AtomicU64::new(0))
    /// }
    ///
    /// /// The next number of a ticket.
    /// #[skill("ticket.next", version = "1", side_effects = "none", risk = "low")]
    /// async fn next(ctx: &SkillContext) -> Result<u64, SkillError> {
    ///     let tickets = ctx.state::<Tickets>().await?;
    ///     Ok(tickets.0.fetch_add(1, Ordering::Relaxed))
    /// }
    /// ```
    ///
    /// Guide: `docs/guides/shared-state.md`.
    ///
    /// # Errors
    ///
    /// `state_unavailable` (retryable) if the value cannot be built. The next call tries again.
    pub async fn state<T: State>(&self) -> Result<Arc<T>, SkillError> {
        self.0.states.get::<T>(&self.0.meta.environment).await
    }
}

impl fmt::Debug for SkillContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillContext")
            .field("skill", &self.skill())
            .field("protocol", &self.protocol())
            .field("invocation_id", &self.invocation_id().map(id_for_log))
            .field("remaining", &self.remaining())
            .field("is_cancelled", &self.is_cancelled())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
