//! The knowledge of the platform, as a call uses it.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::SkillContext;
use crate::error::SkillError;
use crate::platform::core::CoreClient;
use crate::platform::core::knowledge::{
    Document, EntityQuery, EntityRecord, Page, Recall, RecallQuery, Snapshot, SnapshotPlan, StoredDocument,
};

impl SkillContext {
    /// The knowledge of the platform. Needs feature `core`.
    pub fn knowledge(&self) -> Knowledge<'_> {
        Knowledge { context: self }
    }

    /// The client of the call: the one given in tests, else that of the environment.
    pub(super) fn core(&self) -> Result<Arc<CoreClient>, SkillError> {
        match &self.0.meta.services.core {
            Some(core) => Ok(Arc::clone(core)),
            None => CoreClient::of_environment(self.environment()),
        }
    }
}

/// The knowledge of the platform: see [`SkillContext::knowledge`].
///
/// All methods have the codes of every request to the core beside their own: `config_missing`, `config_invalid`,
/// `core_unavailable`, `iam_unreachable`, `timeout` and `cancelled`, which are retryable, `core_error`, and a code of the
/// core as it is.
#[derive(Debug, Clone, Copy)]
pub struct Knowledge<'a> {
    context: &'a SkillContext,
}

impl Knowledge<'_> {
    /// What applying `snapshot` in `workspace` would change. Nothing is written.
    pub async fn preview(self, snapshot: &Snapshot, workspace: &str) -> Result<SnapshotPlan, SkillError> {
        let body = in_workspace(snapshot, workspace, None)?;
        self.post("/knowledge/snapshots:preview", &body, false).await
    }

    /// Makes what is known of the snapshot's source and scope in `workspace` equal to `snapshot`.
    ///
    /// With `expected_state`, the `state_token` of a preview, only if nothing has changed since then. Without it whatever
    /// is there is replaced. All tries carry one idempotency key.
    ///
    /// # Errors
    /// `snapshot_stale`, not retryable, when something has changed since the preview; see
    /// [`SnapshotStale`](crate::knowledge::SnapshotStale).
    pub async fn apply(
        self,
        snapshot: &Snapshot,
        workspace: &str,
        expected_state: Option<&str>,
    ) -> Result<SnapshotPlan, SkillError> {
        let body = in_workspace(snapshot, workspace, expected_state)?;
        self.post("/knowledge/snapshots", &body, true).await
    }

    /// Stores `document` in `workspace`, in place of the one with the same natural key. All tries carry one idempotency
    /// key.
    pub async fn document(self, document: &Document, workspace: &str) -> Result<StoredDocument, SkillError> {
        let body = in_workspace(document, workspace, None)?;
        self.post("/knowledge/documents", &body, true).await
    }

    /// What the platform remembers about the query's subject.
    pub async fn recall(self, query: &RecallQuery) -> Result<Recall, SkillError> {
        self.post("/context/recall", &value(query)?, false).await
    }

    /// All entities in `workspace` that `query` asks for, of all pages.
    ///
    /// # Errors
    /// `knowledge_query_too_large` when there are more than the query's `max_items`: a part of them is never the answer.
    pub async fn query(self, query: &EntityQuery, workspace: &str) -> Result<Vec<EntityRecord>, SkillError> {
        let mut items: Vec<EntityRecord> = Vec::new();
        let mut cursor: Option<Value> = None;
        loop {
            let body = query.page(workspace, cursor.as_ref());
            let page: Page = self.post("/knowledge/entities:query", &body, false).await?;
            if page.items.len() > query.max_items - items.len() {
                let message = format!(
                    "there are more than {} entities; ask for fewer kinds, add filters, or raise `max_items`",
                    query.max_items
                );
                return Err(SkillError::terminal("knowledge_query_too_large", message));
            }
            let empty = page.items.is_empty();
            items.extend(page.items);
            match page.next_cursor.filter(|next| next != "") {
                None => return Ok(items),
                // Asking again would never end.
                Some(next) if empty || cursor.as_ref() == Some(&next) => {
                    let message = "the core gives the same page of entities again";
                    return Err(SkillError::terminal("core_error", message));
                }
                Some(next) => cursor = Some(next),
            }
        }
    }

    async fn post<T: DeserializeOwned>(
        self,
        path: &str,
        body: &Value,
        idempotent: bool,
    ) -> Result<T, SkillError> {
        let core = self.context.core()?;
        self.context.bounded(core.post(path, body, idempotent)).await
    }
}

/// The body of a request about `content` in a workspace. What the client says itself counts, whatever the content holds:
/// a snapshot that was read from somewhere must not choose the workspace that it is applied to.
fn in_workspace(
    content: &impl Serialize,
    workspace: &str,
    expected_state: Option<&str>,
) -> Result<Value, SkillError> {
    let mut body = value(content)?;
    if let Some(members) = body.as_object_mut() {
        members.insert("workspaceId".to_owned(), workspace.into());
        members.shift_remove("expectedState");
        if let Some(state) = expected_state {
            members.insert("expectedState".to_owned(), state.into());
        }
    }
    Ok(body)
}

/// Of two members with one name the last counts.
fn value(body: &impl Serialize) -> Result<Value, SkillError> {
    serde_json::to_value(body)
        .map_err(|error| SkillError::terminal("core_error", "the request is not JSON").with_source(error))
}
