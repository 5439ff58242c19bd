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

/// Prepares a call of `skill` with `inputs`, which must serialize to JSON.
///
/// The call starts when it is awaited or [`blocking`](Invoke::blocking) is called. Its protocol and its invocation id are `test`.
pub fn invoke(skill: &'static Skill, inputs: impl Serialize) -> Invoke {
    let mut meta = Meta::new("test");
    meta.invocation_id = Some("test".to_owned());
    Invoke {
        skill,
        inputs: serde_json::to_string(&inputs),
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
    inputs: Result<String, serde_json::Error>,
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
    /// Sets an environment variable of the call.
    ///
    /// The call then does not see the environment of the process, so a test gives the same result everywhere. The environment of
    /// the process does not change.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment
            .get_or_insert_default()
            .insert(name.into(), value.into());
        self
    }

    /// Sets environment variables of the call, like [`env`](Self::env). An empty list gives an empty environment.
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

    /// Sets the values of the package settings. A value that is not an object gives empty settings, as on every server.
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

    /// Sets the authenticated caller.
    pub fn caller(mut self, caller: Caller) -> Self {
        self.meta.caller = Some(Arc::new(caller));
        self
    }

    /// Answers the elicitation `name` of [`ask`](crate::SkillContext::ask): the user fills in `content`.
    pub fn answer(self, name: impl Into<String>, content: impl Serialize) -> Self {
        // The call fails if the content does not serialize.
        let content = serde_json::to_value(content).unwrap_or(Value::Null);
        self.respond(name, serde_json::json!({"action": "accept", "content": content}))
    }

    /// Answers the elicitation `name` of [`ask`](crate::SkillContext::ask): the user declines.
    pub fn decline(self, name: impl Into<String>) -> Self {
        self.respond(name, serde_json::json!({"action": "decline"}))
    }

    /// Sets the response that [`request_input`](crate::SkillContext::request_input) returns for `name`.
    pub fn respond(mut self, name: impl Into<String>, response: Value) -> Self {
        self.answers.insert(name.into(), response);
        self
    }

    /// Sets the timeout of the call, which replaces the contract's.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.meta.timeout = Some(timeout);
        self
    }

    /// Sets a shared value, which replaces the one that its `#[skill_sdk::state]` function would build.
    pub fn state<T: State>(mut self, value: T) -> Self {
        self.states = self.states.with(value);
        self
    }

    /// Replaces the core of the platform with a core in memory. Needs feature `core`.
    #[cfg(feature = "core")]
    pub fn core(mut self, core: impl std::borrow::Borrow<super::FakeCore>) -> Self {
        self.meta.services.core = Some(core.borrow().client());
        self
    }

    /// Replaces the connections of the platform with connections in memory. Needs feature `connections`.
    #[cfg(feature = "connections")]
    pub fn connections(mut self, connections: impl std::borrow::Borrow<super::FakeConnections>) -> Self {
        self.meta.services.connections = Some(connections.borrow().client());
        self
    }

    /// Replaces the language model of the server with a mock. Needs feature `llm`.
    ///
    /// # Panics
    /// The call panics if the skill asks the model more often than the mock has replies.
    #[cfg(feature = "llm")]
    pub fn llm(mut self, fake: impl Borrow<FakeLlm>) -> Self {
        let fake = fake.borrow();
        self.meta.services.llm = Some(fake.client());
        self.llm = Some(fake.clone());
        self
    }

    /// Writes the events of the call to `log`, also if the call fails. The events of a successful call are in [`Invoked::logs`] as
    /// well.
    ///
    /// The log contains all `tracing` events of the skill and the SDK until the call ends, of all levels: of the call itself, and
    /// of tasks and threads that carry the span of the call. A task without the span does not belong to the call, as in the log of
    /// a server. Events of concurrent calls do not mix. A subscriber that the test installed gets all events too.
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

    /// Pauses the clock of [`blocking`](Self::blocking): it advances only while the skill waits, so a test of a long timeout is
    /// fast.
    ///
    /// This works for skills that wait with tokio. A skill that blocks its thread stops the clock. An awaited call uses the clock
    /// of the test: `#[tokio::test(start_paused = true)]` does the same there.
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

    /// Runs the call on a runtime of its own and waits for it. An asynchronous test must await the call instead.
    ///
    /// # Errors
    ///
    /// The failure of the call, as its caller would get it.
    pub fn blocking(self) -> Result<Invoked, SkillError> {
        // The new thread does not inherit the subscriber of this thread.
        let capture = Capture::new();
        // A thread of its own, so that it also works inside a runtime.
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
        // Without answers the user cannot be asked, as on most servers.
        meta.input = (!answers.is_empty()).then(|| Arc::new(answers) as _);
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
        let call = host.call(runnable, Call::json(inputs, meta));
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
                "the skill uses names that it does not declare; add to the attribute: {}",
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

/// The result of a call.
#[derive(Clone)]
#[non_exhaustive]
pub struct Invoked {
    /// The outputs, as a server would send them.
    pub outputs: Value,
    /// The attachments of the outputs.
    pub attachments: Vec<Attachment>,
    /// The cost document; `None` without any cost.
    pub cost: Option<Value>,
    /// The events of the call, the oldest first; see [`Invoke::log`].
    pub logs: Vec<LogEvent>,
    json: Vec<u8>,
}

/// The outputs as JSON, the log with one line for each event.
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
    /// The outputs, deserialized.
    ///
    /// # Errors
    ///
    /// The outputs cannot be deserialized into `T`.
    pub fn outputs_as<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_slice(&self.json)
    }
}
