//! What a call starts with.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::{Map, Value};

use super::{
    Caller, Cost, Environment, InputChannel, NoticeSink, ProgressSink, Services, States, TraceContext,
};

/// What the host knows about a call when it starts.
#[derive(Clone)]
#[non_exhaustive]
pub struct ContextBuilder {
    /// The skill: `name@version`.
    pub skill: Arc<str>,
    /// The protocol over which the call came.
    pub protocol: &'static str,
    /// The id of the call.
    pub invocation_id: Option<String>,
    /// The idempotency key.
    pub idempotency_key: Option<String>,
    /// When the time of the call is up.
    pub deadline: Option<Instant>,
    /// What configuration and secrets are read from.
    pub environment: Environment,
    /// The values of the package settings.
    pub settings: Map<String, Value>,
    /// The verified caller.
    pub caller: Option<Arc<Caller>>,
    /// Where progress goes.
    pub progress: Option<Arc<dyn ProgressSink>>,
    /// Where notices go; `None` where nobody listens.
    pub notices: Option<Arc<dyn NoticeSink>>,
    /// The trace context of the caller.
    pub trace: Option<TraceContext>,
    /// How the user is asked.
    pub input: Option<Arc<dyn InputChannel>>,
    /// The shared values.
    pub states: Arc<States>,
    /// Clients in the place of the installation's.
    pub services: Services,
    /// What the skill declares that it will ask for.
    pub asks: DeclaredNames,
    /// Where the cost is added up, if somebody else reads it too.
    pub(crate) cost: Option<Arc<Mutex<Cost>>>,
}

/// What a skill declares that it will ask its context for. An empty list declares nothing.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct DeclaredNames {
    /// The names of secrets.
    pub secrets: &'static [&'static str],
    /// The names of parameters.
    pub config: &'static [&'static str],
}

impl ContextBuilder {
    /// A call of `skill` (`name@version`) over `protocol`, of which nothing else is known.
    pub fn new(skill: impl Into<Arc<str>>, protocol: &'static str, states: Arc<States>) -> Self {
        Self {
            skill: skill.into(),
            protocol,
            invocation_id: None,
            idempotency_key: None,
            deadline: None,
            environment: Environment::process(),
            settings: Map::new(),
            caller: None,
            progress: None,
            notices: None,
            trace: None,
            input: None,
            states,
            services: Services::default(),
            asks: DeclaredNames::default(),
            cost: None,
        }
    }
}

debug_fields!(ContextBuilder { skill, protocol });
