//! What is known of a call beside its inputs.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value};

use super::{Caller, Cost, Environment, InputChannel, ReportSink, TraceContext, id_for_log};
#[cfg(feature = "connections")]
use crate::platform::connections::ConnectionsClient;
#[cfg(feature = "core")]
use crate::platform::core::CoreClient;
#[cfg(feature = "llm")]
use crate::platform::llm::LlmClient;

/// What a server knows of a call beside its inputs.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Meta {
    /// The protocol over which the call came.
    pub protocol: &'static str,
    /// The id that the caller gave to this call.
    pub invocation_id: Option<String>,
    /// The idempotency key.
    pub idempotency_key: Option<String>,
    /// The values of the package settings.
    pub settings: Map<String, Value>,
    /// How long the call may take, in place of the contract's timeout.
    pub timeout: Option<Duration>,
    /// Whether that is the contract's timeout, because the caller set none.
    pub(crate) has_contract_timeout: bool,
    /// How much of it the call has waited for its turn.
    pub(crate) waited: Duration,
    /// What configuration and secrets are read from.
    pub environment: Environment,
    /// The verified caller.
    pub caller: Option<Arc<Caller>>,
    /// Where progress and notices go; `None` where the caller does not listen.
    pub reports: Option<Arc<dyn ReportSink>>,
    /// The trace context of the caller.
    pub trace: Option<TraceContext>,
    /// How the user is asked; `None` where there is no way to do it.
    pub(crate) input: Option<Arc<dyn InputChannel>>,
    /// Clients in the place of the installation's.
    pub services: Services,
    /// Where the cost is added up, if somebody else reads it too.
    pub(crate) cost: Option<Arc<Mutex<Cost>>>,
}

impl Meta {
    /// A call over `protocol` of which nothing else is known.
    pub fn new(protocol: &'static str) -> Self {
        Self {
            protocol,
            ..Self::default()
        }
    }

    /// How long the call may take, if its contract says so and the caller does not.
    #[cfg(feature = "runtime")]
    pub(crate) fn time_limit(&mut self, contract: Duration) -> Duration {
        self.has_contract_timeout |= self.timeout.is_none();
        *self.timeout.get_or_insert(contract)
    }

    /// How long the call may take, and who says so: `30 s, the timeout of its contract`.
    pub(crate) fn time_limit_in_words(&self) -> Option<String> {
        let seconds = self.timeout?.as_secs_f64();
        let source = if self.has_contract_timeout {
            "of its contract"
        } else {
            "that the caller set"
        };
        Some(format!("{seconds} s, the timeout {source}"))
    }
}

impl fmt::Debug for Meta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meta")
            .field("protocol", &self.protocol)
            .field("invocation_id", &self.invocation_id.as_deref().map(id_for_log))
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

/// Clients in the place of the installation's, for one call: the fakes of tests.
///
/// A server leaves all of it empty. Each field exists with the feature of its service, and an empty one costs nothing.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Services {
    #[cfg(feature = "core")]
    pub(crate) core: Option<Arc<CoreClient>>,
    #[cfg(feature = "connections")]
    pub(crate) connections: Option<Arc<ConnectionsClient>>,
    /// The language model.
    #[cfg(feature = "llm")]
    pub llm: Option<LlmClient>,
}

debug_fields!(Services {});

/// The names that a skill declares. An empty list declares nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct DeclaredNames {
    /// The names of secrets.
    pub(crate) secrets: &'static [&'static str],
    /// The names of parameters.
    pub(crate) config: &'static [&'static str],
}
