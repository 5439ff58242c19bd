//! The metadata of a call.

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

/// The metadata of a call: everything except its inputs.
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
    /// The timeout of the call, which replaces the contract's.
    pub timeout: Option<Duration>,
    /// Whether `timeout` is the contract's, because the caller did not set one.
    pub(crate) has_contract_timeout: bool,
    /// How much of the timeout the call waited for a concurrency slot.
    pub(crate) waited: Duration,
    /// The source of configuration and secrets.
    pub environment: Environment,
    /// The authenticated caller.
    pub caller: Option<Arc<Caller>>,
    /// The sink for progress and log messages; `None` if the caller does not accept them.
    pub reports: Option<Arc<dyn ReportSink>>,
    /// The trace context of the caller.
    pub trace: Option<TraceContext>,
    /// The channel to the user; `None` if the protocol or the client has none.
    pub(crate) input: Option<Arc<dyn InputChannel>>,
    /// Clients that replace those of the server.
    pub services: Services,
    /// The sum of the cost, if the server shares it between calls.
    pub(crate) cost: Option<Arc<Mutex<Cost>>>,
}

impl Meta {
    /// A call over `protocol`, with defaults for everything else.
    pub fn new(protocol: &'static str) -> Self {
        Self {
            protocol,
            ..Self::default()
        }
    }

    /// The timeout of the call: that of the caller, or else that of the contract.
    #[cfg(feature = "runtime")]
    pub(crate) fn time_limit(&mut self, contract: Duration) -> Duration {
        self.has_contract_timeout |= self.timeout.is_none();
        *self.timeout.get_or_insert(contract)
    }

    /// The timeout and its source: `30 s, the timeout of its contract`.
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

/// Clients that replace those of the server for one call: the mocks of tests. Servers leave it empty.
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
