//! The clients that calls share, and what stands in their place in tests.

#[cfg(feature = "core")]
use std::sync::Arc;

#[cfg(feature = "connections")]
use crate::platform::connections::ConnectionsClient;
#[cfg(feature = "core")]
use crate::platform::core::CoreClient;
#[cfg(feature = "llm")]
use crate::platform::llm::LlmClient;

/// Clients in the place of the installation's, for one call: the fakes of tests.
///
/// A host leaves all of it empty. Each member exists with the feature of its service, and an empty one costs nothing.
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
