//! A core in memory.
//!
//! - `answers`: the requests that it supports, and its responses
//! - `knowledge`: states, snapshots and plans
//! - `filter`: conditions on attributes

mod answers;
mod filter;
mod knowledge;

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use serde_json::Value;

use self::knowledge::Knowledge;
use super::shared::Shared;
use crate::platform::clock::Clock;
use crate::platform::core::knowledge::{EntityRecord, Snapshot};
use crate::platform::core::{CoreClient, CoreSettings};

/// A core in memory, for [`Invoke::core`](super::Invoke::core): artifacts and knowledge, behind the real client. Clones share the
/// core.
///
/// ```
/// use serde_json::json;
/// use skill_sdk::testing::{FakeCore, invoke};
/// use skill_sdk::{SkillContext, SkillError, skill};
///
/// /// How many lines an artifact has.
/// #[skill("artifact.lines", version = "1", side_effects = "external_read", risk = "low")]
/// async fn lines(artifact: String, ctx: &SkillContext) -> Result<usize, SkillError> {
///     Ok(ctx.artifacts().read(&artifact).await?.text()?.lines().count())
/// }
///
/// let core = FakeCore::new();
/// core.put("a-1", "one\ntwo", "text/plain");
/// let result = invoke(lines::SKILL, json!({"artifact": "a-1"})).core(&core).blocking().unwrap();
/// assert_eq!(result.outputs, json!({"result": 2}));
/// assert_eq!(core.reads(), ["a-1"]);
/// ```
#[derive(Clone)]
pub struct FakeCore {
    /// The transport of the client uses it too.
    state: Shared<State>,
    client: Arc<CoreClient>,
}

#[derive(Default)]
struct State {
    artifacts: BTreeMap<String, (Vec<u8>, String)>,
    reads: Vec<String>,
    knowledge: Knowledge,
    applied: Vec<Value>,
    /// A workspace and a snapshot that another client applies before the next snapshot.
    interference: Option<(String, Value)>,
    documents: Vec<Value>,
    recalls: Vec<Value>,
    recall_answer: Option<Value>,
    queries: Vec<Value>,
    down: bool,
}

impl Default for FakeCore {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeCore {
    /// An empty core.
    pub fn new() -> Self {
        let state = Shared::<State>::default();
        let settings = CoreSettings {
            url: "http://core.fake".to_owned(),
            api_key: Some("fake".to_owned()),
            iam: None,
        };
        let mut client = CoreClient::new(&settings, Arc::new(state.clone()), &Clock::default());
        client.retry_window = Duration::ZERO;
        Self {
            state,
            client: Arc::new(client),
        }
    }

    /// Adds an artifact.
    pub fn put(&self, id: impl Into<String>, data: impl Into<Vec<u8>>, media_type: impl Into<String>) {
        let artifact = (data.into(), media_type.into());
        self.state().artifacts.insert(id.into(), artifact);
    }

    /// The ids of all artifacts that were requested, in order, unknown ids included.
    pub fn reads(&self) -> Vec<String> {
        self.state().reads.clone()
    }

    /// Applies a snapshot: replaces the entities of its source and scope. Returns the token of the new state.
    pub fn load(&self, workspace: &str, snapshot: &Snapshot) -> String {
        let snapshot = serde_json::to_value(snapshot).unwrap_or_default();
        self.state().knowledge.apply(workspace, &snapshot)
    }

    /// Makes another client [`load`](Self::load) a snapshot just before the next snapshot is applied, so that a plan becomes stale.
    pub fn interfere(&self, workspace: impl Into<String>, snapshot: &Snapshot) {
        let snapshot = serde_json::to_value(snapshot).unwrap_or_default();
        self.state().interference = Some((workspace.into(), snapshot));
    }

    /// All entities of a workspace, ordered by kind and key.
    pub fn entities(&self, workspace: &str) -> Vec<EntityRecord> {
        self.state().knowledge.entities(workspace)
    }

    /// The snapshots that were applied, as sent.
    pub fn applied(&self) -> Vec<Value> {
        self.state().applied.clone()
    }

    /// The documents that were stored, as sent.
    pub fn documents(&self) -> Vec<Value> {
        self.state().documents.clone()
    }

    /// Sets the response to every recall. The default is `{"sections": []}`.
    pub fn recall_answer(&self, answer: Value) {
        self.state().recall_answer = Some(answer);
    }

    /// The queries for recall, as sent.
    pub fn recalls(&self) -> Vec<Value> {
        self.state().recalls.clone()
    }

    /// The queries, without their pages: `{"workspaceId", "kinds", "where", "asOf"}`.
    ///
    /// The core ignores `asOf` and returns the entities that are valid now.
    pub fn queries(&self) -> Vec<Value> {
        self.state().queries.clone()
    }

    /// Makes the core unreachable, or reachable again. The client does not retry.
    pub fn set_down(&self, down: bool) {
        self.state().down = down;
    }

    pub(super) fn client(&self) -> Arc<CoreClient> {
        Arc::clone(&self.client)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

debug_fields!(FakeCore {});
