//! The knowledge of the platform.

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

    /// The client of the call: the mock of a test, or the client for the environment.
    pub(super) fn core(&self) -> Result<Arc<CoreClient>, SkillError> {
        match &self.0.meta.services.core {
            Some(core) => Ok(Arc::clone(core)),
            None => CoreClient::of_environment(self.environment()),
        }
    }
}

/// The knowledge of the platform: see [`SkillContext::knowledge`].
///
/// All methods can fail with the codes of every request to the core: `config_missing`, `config_invalid`, `core_unavailable`,
/// `iam_unreachable`, `timeout` and `cancelled`, which are retryable, `core_error`, and other codes of the core.
#[derive(Debug, Clone, Copy)]
pub struct Knowledge<'a> {
    context: &'a SkillContext,
}

impl Knowledge<'_> {
    /// The changes that applying `snapshot` in `workspace` would make. Nothing is written.
    ///
    /// # Errors
    ///
    /// The codes of every request to the core: see [`Knowledge`].
    pub async fn preview(self, snapshot: &Snapshot, workspace: &str) -> Result<SnapshotPlan, SkillError> {
        let body = in_workspace(snapshot, workspace, None)?;
        self.post("/knowledge/snapshots:preview", &body, false).await
    }

    /// Replaces the entities of the snapshot's source and scope in `workspace` with those of `snapshot`.
    ///
    /// With `expected_state`, the `state_token` of a preview, this fails if the state has changed since then. All attempts have
    /// the same idempotency key.
    ///
    /// # Errors
    /// `snapshot_stale`, not retryable, if the state has changed since the preview; see
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

    /// Stores `document` in `workspace`, and replaces the document with the same natural key. All attempts have the same
    /// idempotency key.
    ///
    /// # Errors
    ///
    /// The codes of every request to the core: see [`Knowledge`].
    pub async fn document(self, document: &Document, workspace: &str) -> Result<StoredDocument, SkillError> {
        let body = in_workspace(document, workspace, None)?;
        self.post("/knowledge/documents", &body, true).await
    }

    /// What the platform knows about the subject of the query.
    ///
    /// # Errors
    ///
    /// The codes of every request to the core: see [`Knowledge`].
    pub async fn recall(self, query: &RecallQuery) -> Result<Recall, SkillError> {
        self.post("/context/recall", &value(query)?, false).await
    }

    /// All entities in `workspace` for `query`, of all pages.
    ///
    /// # Errors
    /// `knowledge_query_too_large` if there are more than `max_items` of the query. The list is never cut.
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
                // The next request would return the same page.
                Some(next) if empty || cursor.as_ref() == Some(&next) => {
                    let message = "the core returned the same page of entities again";
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

/// The body of a request about `content` in a workspace. The arguments overwrite fields of the content: a snapshot from an
/// untrusted source must not choose its workspace.
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

/// Of two fields with the same name the last is used.
fn value(body: &impl Serialize) -> Result<Value, SkillError> {
    serde_json::to_value(body)
        .map_err(|error| SkillError::terminal("core_error", "the request is not JSON").with_source(error))
}
