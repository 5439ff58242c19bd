//! A core in memory.
//!
//! - `answers`: the requests that it knows, and what it answers
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

/// A core in memory, for [`Invoke::core`](super::Invoke::core): artifacts and knowledge. The client in front of it is the
/// real one. Clones are the same core.
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
    /// The client's transport sees it as well.
    state: Shared<State>,
    client: Arc<CoreClient>,
}

#[derive(Default)]
struct State {
    artifacts: BTreeMap<String, (Vec<u8>, String)>,
    reads: Vec<String>,
    knowledge: Knowledge,
    applied: Vec<Value>,
    /// What somebody else applies before the next snapshot: the workspace and the snapshot.
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
    /// A core with nothing in it.
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

    /// Puts an artifact there.
    pub fn put(&self, id: impl Into<String>, data: impl Into<Vec<u8>>, media_type: impl Into<String>) {
        let artifact = (data.into(), media_type.into());
        self.state().artifacts.insert(id.into(), artifact);
    }

    /// The ids of all artifacts that were asked for, in order, also of those that are not there.
    pub fn reads(&self) -> Vec<String> {
        self.state().reads.clone()
    }

    /// Puts knowledge there, in place of what the same source has said about the same scope. Says the token of the state.
    pub fn load(&self, workspace: &str, snapshot: &Snapshot) -> String {
        let snapshot = serde_json::to_value(snapshot).unwrap_or_default();
        self.state().knowledge.apply(workspace, &snapshot)
    }

    /// Lets somebody else [`load`](Self::load) this just before the next snapshot is applied, so that a plan is stale.
    pub fn interfere(&self, workspace: impl Into<String>, snapshot: &Snapshot) {
        let snapshot = serde_json::to_value(snapshot).unwrap_or_default();
        self.state().interference = Some((workspace.into(), snapshot));
    }

    /// All entities of a workspace, ordered by kind and key.
    pub fn entities(&self, workspace: &str) -> Vec<EntityRecord> {
        self.state().knowledge.entities(workspace)
    }

    /// The snapshots that were applied, as they came over the wire.
    pub fn applied(&self) -> Vec<Value> {
        self.state().applied.clone()
    }

    /// The documents that were stored, as they came over the wire.
    pub fn documents(&self) -> Vec<Value> {
        self.state().documents.clone()
    }

    /// Sets what is remembered about everything; `{"sections": []}` when it is not set.
    pub fn recall_answer(&self, answer: Value) {
        self.state().recall_answer = Some(answer);
    }

    /// What was asked to be remembered, as it came over the wire.
    pub fn recalls(&self) -> Vec<Value> {
        self.state().recalls.clone()
    }

    /// The queries, one for each however many pages it has: `{"workspaceId", "kinds", "where", "asOf"}`.
    ///
    /// `asOf` is not looked at: what is valid now is the answer.
    pub fn queries(&self) -> Vec<Value> {
        self.state().queries.clone()
    }

    /// Makes the core unreachable, or reachable again. Requests are not repeated meanwhile.
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
