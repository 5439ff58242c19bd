//! Knowledge: entities, documents and what is remembered, in a workspace of the platform.
//!
//! A skill that loads a source gives all of it as a [`Snapshot`]. [`Knowledge::preview`] says what would change, and
//! [`Knowledge::apply`] with the `state_token` of that plan does exactly this or fails with [`SnapshotStale`].
//!
//! ```
//! use skill_sdk::knowledge::{ApplyError, Entity, Snapshot};
//! use skill_sdk::{SkillContext, SkillError, skill};
//!
//! /// Load the list of branches.
//! #[skill("branches.load", version = "1", side_effects = "external_write", risk = "medium", idempotency = "natural")]
//! async fn load(workspace: String, ctx: &SkillContext) -> Result<u64, SkillError> {
//!     let snapshot = Snapshot::new("offices", "table:branches", "all")
//!         .entity(Entity::new("branch", "b-1").title("Main street").attribute("seats", 12));
//!     let plan = ctx.knowledge().preview(&snapshot, &workspace).await?;
//!     let expected = Some(plan.state_token.as_str());
//!     match ctx.knowledge().apply(&snapshot, &workspace, expected).await {
//!         Ok(applied) => Ok(applied.opened),
//!         Err(ApplyError::Stale(stale)) => Err(stale.into()), // somebody else was quicker: make the plan again
//!         Err(other) => Err(other.into()),
//!     }
//! }
//! ```

mod document;
mod filter;
mod query;
mod recall;
mod snapshot;
mod stale;

use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::document::{Chunk, Document, Link, StoredDocument};
pub use self::filter::Filter;
use self::query::Page;
pub use self::query::{DEFAULT_MAX_ITEMS, EntityQuery, EntityRecord, PAGE_SIZE};
pub use self::recall::{Recall, RecallQuery};
pub use self::snapshot::{Changes, Conflicts, Entity, EntityKey, Snapshot, SnapshotPlan};
pub use self::stale::{ApplyError, SnapshotStale};
use super::client::Ask;
use super::{CoreClient, Failure};
use crate::context::SkillContext;
use crate::error::SkillError;

/// The knowledge of the platform: see [`SkillContext::knowledge`].
///
/// All methods have the codes of every request to the core beside their own: `config_missing`, `config_invalid`,
/// `core_unavailable`, `iam_unreachable`, `timeout` and `cancelled`, which are retryable, `core_error`, and a code of the
/// core as it is.
#[derive(Debug, Clone, Copy)]
pub struct Knowledge<'a> {
    context: &'a SkillContext,
}

impl<'a> Knowledge<'a> {
    pub(super) fn new(context: &'a SkillContext) -> Self {
        Self { context }
    }

    /// What applying `snapshot` in `workspace` would change. Nothing is written.
    pub async fn preview(self, snapshot: &Snapshot, workspace: &str) -> Result<SnapshotPlan, SkillError> {
        let body = InWorkspace {
            workspace_id: workspace,
            expected_state: None,
            content: snapshot,
        };
        self.post("/knowledge/snapshots:preview", &body, false).await
    }

    /// Makes what is known of the snapshot's source and scope in `workspace` equal to `snapshot`.
    ///
    /// With `expected_state`, the `state_token` of a preview, only if nothing has changed since then. Without it whatever
    /// is there is replaced. All tries carry one idempotency key.
    ///
    /// # Errors
    /// [`ApplyError::Stale`] when something has changed since the preview.
    pub async fn apply(
        self,
        snapshot: &Snapshot,
        workspace: &str,
        expected_state: Option<&str>,
    ) -> Result<SnapshotPlan, ApplyError> {
        let body = InWorkspace {
            workspace_id: workspace,
            expected_state,
            content: snapshot,
        };
        let core = self.context.core()?;
        let body = text(&body)?;
        let ask = Ask::post("/knowledge/snapshots", &body, true);
        // The failure stays a value until it is known whether it is this one.
        let applied = async { Ok::<_, SkillError>(core.json(ask).await) };
        match self.context.bounded(applied).await? {
            Ok(plan) => Ok(plan),
            Err(failure) if failure.code() == SnapshotStale::CODE => {
                let token = failure
                    .details()
                    .and_then(|details| details["stateToken"].as_str());
                Err(ApplyError::Stale(SnapshotStale::new(token)))
            }
            Err(failure) => Err(ApplyError::Failed(failure.into())),
        }
    }

    /// Stores `document` in `workspace`, in place of the one with the same natural key. All tries carry one idempotency
    /// key.
    pub async fn document(self, document: &Document, workspace: &str) -> Result<StoredDocument, SkillError> {
        let body = InWorkspace {
            workspace_id: workspace,
            expected_state: None,
            content: document,
        };
        self.post("/knowledge/documents", &body, true).await
    }

    /// What the platform remembers about the query's subject.
    pub async fn recall(self, query: &RecallQuery) -> Result<Recall, SkillError> {
        self.post("/context/recall", query, false).await
    }

    /// All entities in `workspace` that `query` asks for, of all pages.
    ///
    /// # Errors
    /// `knowledge_query_too_large` when there are more than the query's `max_items`: a part of them is never the answer.
    pub async fn query(self, query: &EntityQuery, workspace: &str) -> Result<Vec<EntityRecord>, SkillError> {
        let core = self.context.core()?;
        self.context.bounded(pages(&core, query, workspace)).await
    }

    async fn post<T: DeserializeOwned>(
        self,
        path: &str,
        body: &impl Serialize,
        idempotent: bool,
    ) -> Result<T, SkillError> {
        let core = self.context.core()?;
        let body = text(body)?;
        self.context
            .bounded(core.json(Ask::post(path, &body, idempotent)))
            .await
    }
}

async fn pages(
    core: &CoreClient,
    query: &EntityQuery,
    workspace: &str,
) -> Result<Vec<EntityRecord>, SkillError> {
    let mut items: Vec<EntityRecord> = Vec::new();
    let mut cursor: Option<Value> = None;
    loop {
        let body = text(&query.page(workspace, cursor.as_ref()))?;
        let page: Page = core
            .json(Ask::post("/knowledge/entities:query", &body, false))
            .await?;
        if page.items.len() > query.most() - items.len() {
            let message = format!(
                "there are more than {} entities; ask for fewer kinds, add filters, or raise `max_items`",
                query.most()
            );
            return Err(SkillError::terminal("knowledge_query_too_large", message));
        }
        let empty = page.items.is_empty();
        items.extend(page.items);
        match page.next_cursor {
            None => return Ok(items),
            // Asking again would never end.
            Some(next) if empty || cursor.as_ref() == Some(&next) => {
                return Err(Failure::malformed("its pages do not get on").into());
            }
            Some(next) => cursor = Some(next),
        }
    }
}

/// A body of a request that names its workspace.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InWorkspace<'a, T> {
    workspace_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_state: Option<&'a str>,
    #[serde(flatten)]
    content: &'a T,
}

fn text(body: &impl Serialize) -> Result<Vec<u8>, SkillError> {
    serde_json::to_vec(body)
        .map_err(|error| SkillError::terminal("core_error", "the request is no JSON").with_source(error))
}

/// Null is as good as nothing.
fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
