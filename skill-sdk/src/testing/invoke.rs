//! One call of a skill in a test.

#[cfg(feature = "llm")]
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tracing::instrument::WithSubscriber;

#[cfg(feature = "llm")]
use super::FakeLlm;
use super::capture::{Capture, LogEvent};
use super::input::Answers;
use super::log::CallLog;
use crate::context::{Caller, State, States};
use crate::contract::json;
use crate::environment::Environment;
use crate::error::SkillError;
use crate::handler::Attachment;
use crate::pipeline::{Call, Meta, SkillSet};
use crate::registry::{Registry, Skill};

/// A call of `skill` with `inputs`, a JSON value or anything that serializes to one.
///
/// Nothing happens until it is awaited or [`blocking`](Invoke::blocking) is called. The protocol of the call is `test`,
/// and so is its invocation id.
pub fn invoke(skill: &'static Skill, inputs: impl Serialize) -> Invoke {
    let mut meta = Meta::new("test");
    meta.invocation_id = Some("test".to_owned());
    Invoke {
        skill,
        inputs: serde_json::to_value(inputs),
        meta,
        environment: None,
        states: Registry::declared_states(),
        answers: Answers::default(),
        log: None,
        virtual_time: false,
        #[cfg(feature = "llm")]
        llm: None,
    }
}

/// A call that is being prepared: see [`invoke`].
#[must_use = "a call does nothing unless it is awaited or `blocking()` is called"]
pub struct Invoke {
    skill: &'static Skill,
    inputs: Result<Value, serde_json::Error>,
    meta: Meta,
    environment: Option<BTreeMap<String, String>>,
    states: States,
    answers: Answers,
    log: Option<CallLog>,
    virtual_time: bool,
    #[cfg(feature = "llm")]
    llm: Option<FakeLlm>,
}

impl Invoke {
    /// Sets a variable of the call's environment.
    ///
    /// With the first one the environment of the process is out of sight for this call, so that a test gives the same
    /// result everywhere. No variable of the process is changed.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment
            .get_or_insert_default()
            .insert(name.into(), value.into());
        self
    }

    /// Sets variables of the call's environment, like [`env`](Self::env). An empty list gives an empty environment.
    pub fn envs<N: Into<String>, V: Into<String>>(
        mut self,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let own = self.environment.get_or_insert_default();
        own.extend(
            variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        self
    }

    /// Sets the values of the package settings. What is not an object is empty settings, as on every host.
    pub fn settings(mut self, values: Value) -> Self {
        self.meta.settings = match values {
            Value::Object(values) => values,
            _ => Map::new(),
        };
        self
    }

    /// Sets the idempotency key.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.meta.idempotency_key = Some(key.into());
        self
    }

    /// Sets the verified caller.
    pub fn caller(mut self, caller: Caller) -> Self {
        self.meta.caller = Some(Arc::new(caller));
        self
    }

    /// Answers the question `name` of [`ask`](crate::SkillContext::ask): the user fills in `content`.
    pub fn answer(self, name: impl Into<String>, content: impl Serialize) -> Self {
        // What does not serialize is no answer that fits, which the failure of the call says.
        let content = serde_json::to_value(content).unwrap_or(Value::Null);
        self.respond(name, serde_json::json!({"action": "accept", "content": content}))
    }

    /// Answers the question `name` of [`ask`](crate::SkillContext::ask): the user declines.
    pub fn decline(self, name: impl Into<String>) -> Self {
        self.respond(name, serde_json::json!({"action": "decline"}))
    }

    /// Gives what [`request_input`](crate::SkillContext::request_input) gets for `name`.
    pub fn respond(mut self, name: impl Into<String>, response: Value) -> Self {
        self.answers.0.insert(name.into(), response);
        self
    }

    /// Sets how long the call may take, in place of the contract's timeout.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.meta.timeout = Some(timeout);
        self
    }

    /// Gives a shared value in place of the one that its `#[skill_sdk::state]` function would build.
    pub fn state<T: State>(mut self, value: T) -> Self {
        self.states = self.states.with(value);
        self
    }

    /// Gives a core in memory in place of the platform's. Clones of it are the same core. Needs feature `core`.
    #[cfg(feature = "core")]
    pub fn core(mut self, core: impl std::borrow::Borrow<super::FakeCore>) -> Self {
        self.meta.services.core = Some(core.borrow().client());
        self
    }

    /// Gives connections in memory in place of the platform's. Clones of them are the same connections. Needs feature
    /// `connections`.
    #[cfg(feature = "connections")]
    pub fn connections(mut self, connections: impl std::borrow::Borrow<super::FakeConnections>) -> Self {
        self.meta.services.connections = Some(connections.borrow().client());
        self
    }

    /// Gives a model in place of the installation's. Needs feature `llm`.
    ///
    /// # Panics
    /// The call panics when the skill asked the model more often than it has answers.
    #[cfg(feature = "llm")]
    pub fn llm(mut self, fake: impl Borrow<FakeLlm>) -> Self {
        let fake = fake.borrow();
        self.meta.services.llm = Some(fake.client());
        self.llm = Some(fake.clone());
        self
    }

    /// Puts the events of the call into `log`, also when the call fails. Those of a call that succeeds are in
    /// [`Invoked::logs`] as well.
    ///
    /// Captured is what the skill and the SDK log with `tracing`, of all levels, until the call ends: in the call itself, and in
    /// the tasks and threads to which the skill gives the span of the call along. A task that has no span belongs to no call, here and
    /// in the log of a host. Calls that run at the same time do not mix. A subscriber that the test installed gets all of it
    /// too.
    ///
    /// ```
    /// use skill_sdk::{SkillError, skill};
    /// use tracing::{Instrument, Span, info};
    ///
    /// /// Works in three places.
    /// #[skill("work.share", version = "1", side_effects = "none", risk = "low")]
    /// async fn share() -> Result<(), SkillError> {
    ///     let task = tokio::spawn(async { info!("in a task") }.in_current_span());
    ///     let span = Span::current();
    ///     let thread = std::thread::spawn(move || span.in_scope(|| info!("on a thread")));
    ///     task.await.map_err(|error| SkillError::retryable("task", error.to_string()))?;
    ///     let _ = thread.join();
    ///     info!("in the call");
    ///     Ok(())
    /// }
    ///
    /// let result = skill_sdk::testing::invoke(share::SKILL, serde_json::json!({})).blocking().unwrap();
    /// let has = |text: &str| result.logs.iter().any(|event| event.message == text);
    /// assert!(has("in a task") && has("on a thread") && has("in the call"));
    /// ```
    ///
    /// ```
    /// use serde_json::json;
    /// use skill_sdk::testing::{CallLog, invoke};
    /// use skill_sdk::{SkillError, skill};
    ///
    /// /// Fails.
    /// #[skill("always.fail", version = "1", side_effects = "none", risk = "low")]
    /// async fn fail() -> Result<(), SkillError> {
    ///     Err(SkillError::terminal("no", "never"))
    /// }
    ///
    /// let log = CallLog::new();
    /// invoke(fail::SKILL, json!({})).log(&log).blocking().unwrap_err();
    /// let events = log.events();
    /// assert_eq!(events[0].message, "the call failed");
    /// assert_eq!(events[0].field("code"), Some("no"));
    /// assert_eq!(events[0].field("skill"), Some("always.fail@1"));
    /// ```
    pub fn log(mut self, log: &CallLog) -> Self {
        self.log = Some(log.clone());
        self
    }

    /// Runs [`blocking`](Self::blocking) by a clock that stands still while the skill works and jumps ahead when all of
    /// it waits, so that a test of a long timeout takes no time.
    ///
    /// For skills that wait with tokio: what blocks its thread keeps the clock from moving. A call that is awaited takes the
    /// clock of the test: `#[tokio::test(start_paused = true)]` does the same there.
    ///
    /// ```
    /// use std::time::Duration;
    /// use serde_json::json;
    /// use skill_sdk::{skill, testing};
    ///
    /// /// Waits for a day.
    /// #[skill("day.wait", version = "1", side_effects = "none", risk = "low", timeout = 3600)]
    /// async fn wait() {
    ///     tokio::time::sleep(Duration::from_hours(24)).await;
    /// }
    ///
    /// let error = testing::invoke(wait::SKILL, json!({})).virtual_time().blocking().unwrap_err();
    /// assert_eq!(error.code(), "timeout");
    /// ```
    pub fn virtual_time(mut self) -> Self {
        self.virtual_time = true;
        self
    }

    /// Runs the call on a runtime of its own and waits for it. Inside an asynchronous test await the call in place of
    /// this.
    pub fn blocking(self) -> Result<Invoked, SkillError> {
        // The subscriber of this thread is not that of the next one.
        let capture = Capture::new();
        // A thread of its own, so that it works wherever it is called.
        std::thread::scope(|scope| {
            let call = scope.spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .start_paused(self.virtual_time)
                    .build();
                let runtime = runtime
                    .map_err(|error| SkillError::retryable("overloaded", "no runtime").with_source(error))?;
                runtime.block_on(self.run(capture))
            });
            call.join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    async fn run(self, capture: Capture) -> Result<Invoked, SkillError> {
        let (skill, mut meta, answers) = (self.skill, self.meta, self.answers);
        // Nobody is there when nothing is to be answered, as on most hosts.
        meta.input = (!answers.0.is_empty()).then(|| Arc::new(answers) as _);
        let inputs = self.inputs.map_err(|error| {
            SkillError::terminal("bad_request", format!("the inputs do not serialize: {error}"))
        })?;
        if let Some(variables) = self.environment {
            meta.environment = Environment::from_vars(variables);
        }
        let host = SkillSet::with_states([skill], self.states)
            .map_err(|error| SkillError::terminal("invalid_skill_contract", error.to_string()))?;
        let Some(runnable) = host.get(skill.reference()) else {
            return Err(SkillError::terminal("skill_not_hosted", skill.reference()));
        };
        let call = host.call(runnable, Call::value(&inputs, meta));
        let mut completed = call.with_subscriber(capture.dispatch()).await;
        let logs = capture.events();
        if let Some(log) = self.log {
            log.extend(&logs);
        }
        #[cfg(feature = "llm")]
        if let Some(fake) = self.llm {
            fake.panic_if_exhausted();
        }
        if !completed.undeclared().is_empty() {
            let message = format!(
                "the skill asked its context for what it does not declare; add to the attribute: {}",
                completed.undeclared().join(", ")
            );
            return Err(SkillError::terminal("undeclared", message));
        }
        let attachments = completed.take_attachments();
        let (result, cost) = completed.into_parts();
        let text = result?;
        let outputs = json::parse(&text)
            .map_err(|error| SkillError::terminal("output_contract_violation", error.to_string()))?;
        Ok(Invoked {
            outputs,
            attachments,
            cost,
            logs,
            json: text,
        })
    }
}

impl IntoFuture for Invoke {
    type Output = Result<Invoked, SkillError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.run(Capture::new()).await })
    }
}

debug_fields!(Invoke { skill });

/// What a call gave.
#[derive(Clone)]
#[non_exhaustive]
pub struct Invoked {
    /// The outputs, as a host would send them.
    pub outputs: Value,
    /// What stands beside the outputs.
    pub attachments: Vec<Attachment>,
    /// The cost document; `None` when nothing was spent.
    pub cost: Option<Value>,
    /// The events of the call, the oldest first; see [`Invoke::log`].
    pub logs: Vec<LogEvent>,
    json: Vec<u8>,
}

/// The outputs as the JSON text that they are, the log one line an event.
impl fmt::Debug for Invoked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let logs: Vec<_> = self.logs.iter().map(ToString::to_string).collect();
        f.debug_struct("Invoked")
            .field("outputs", &format_args!("{}", self.outputs))
            .field("attachments", &self.attachments)
            .field(
                "cost",
                &format_args!("{}", self.cost.as_ref().unwrap_or(&Value::Null)),
            )
            .field("logs", &logs)
            .finish_non_exhaustive()
    }
}

impl Invoked {
    /// The outputs as a type of yours.
    pub fn outputs_as<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.json)
    }
}
