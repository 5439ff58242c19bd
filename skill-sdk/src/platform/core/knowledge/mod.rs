//! Knowledge: entities, documents and what is remembered, in a workspace of the platform.

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
use super::{CoreClient, failure};
use crate::error::SkillError;

impl CoreClient {
    /// What applying `snapshot` would change.
    pub(crate) async fn preview_snapshot(
        &self,
        snapshot: &Snapshot,
        workspace: &str,
    ) -> Result<SnapshotPlan, SkillError> {
        let body = in_workspace(snapshot, workspace, None)?;
        self.post("/knowledge/snapshots:preview", &body, false).await
    }

    /// Applies `snapshot`, with `expected_state` only if nothing has changed since the preview.
    pub(crate) async fn apply_snapshot(
        &self,
        snapshot: &Snapshot,
        workspace: &str,
        expected_state: Option<&str>,
    ) -> Result<SnapshotPlan, ApplyError> {
        let body = in_workspace(snapshot, workspace, expected_state)?;
        match self.json(Ask::post("/knowledge/snapshots", &body, true)).await {
            Ok(plan) => Ok(plan),
            Err(failure) if failure.code() == SnapshotStale::CODE => {
                let token = failure
                    .details()
                    .and_then(|details| details["stateToken"].as_str());
                Err(ApplyError::Stale(SnapshotStale::new(token)))
            }
            Err(failure) => Err(ApplyError::Failed(failure)),
        }
    }

    /// Stores `document` in place of the one with the same natural key.
    pub(crate) async fn store_document(
        &self,
        document: &Document,
        workspace: &str,
    ) -> Result<StoredDocument, SkillError> {
        let body = in_workspace(document, workspace, None)?;
        self.post("/knowledge/documents", &body, true).await
    }

    /// What the platform remembers about the query's subject.
    pub(crate) async fn recall(&self, query: &RecallQuery) -> Result<Recall, SkillError> {
        self.post("/context/recall", &value(query)?, false).await
    }

    /// All entities that `query` asks for, of all pages.
    pub(crate) async fn query_entities(
        &self,
        query: &EntityQuery,
        workspace: &str,
    ) -> Result<Vec<EntityRecord>, SkillError> {
        let mut items: Vec<EntityRecord> = Vec::new();
        let mut cursor: Option<Value> = None;
        loop {
            let body = query.page(workspace, cursor.as_ref());
            let page: Page = self
                .json(Ask::post("/knowledge/entities:query", &body, false))
                .await?;
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
                    return Err(failure::malformed("its pages do not get on"));
                }
                Some(next) => cursor = Some(next),
            }
        }
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &Value,
        idempotent: bool,
    ) -> Result<T, SkillError> {
        self.json(Ask::post(path, body, idempotent)).await
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

/// Null is as good as nothing.
fn or_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
