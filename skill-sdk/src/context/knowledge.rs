//! The knowledge of the platform, as a call uses it.

use std::sync::Arc;

use super::SkillContext;
use crate::error::SkillError;
use crate::platform::core::CoreClient;
use crate::platform::core::knowledge::{
    ApplyError, Document, EntityQuery, EntityRecord, Recall, RecallQuery, Snapshot, SnapshotPlan,
    StoredDocument,
};

impl SkillContext {
    /// The knowledge of the platform. Needs feature `core`.
    pub fn knowledge(&self) -> Knowledge<'_> {
        Knowledge { context: self }
    }

    /// The client of the call: the one given in tests, else that of the environment.
    pub(crate) fn core(&self) -> Result<Arc<CoreClient>, SkillError> {
        if let Some(core) = self.0.start.services.core.as_ref().or(self.0.core.get()) {
            return Ok(Arc::clone(core));
        }
        let core = CoreClient::of_environment(self.environment())?;
        Ok(Arc::clone(self.0.core.get_or_init(|| core)))
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
        let core = self.context.core()?;
        self.context
            .bounded(core.preview_snapshot(snapshot, workspace))
            .await
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
        let core = self.context.core()?;
        // The inner result keeps the kind of the failure.
        let applied =
            async { Ok::<_, SkillError>(core.apply_snapshot(snapshot, workspace, expected_state).await) };
        self.context.bounded(applied).await?
    }

    /// Stores `document` in `workspace`, in place of the one with the same natural key. All tries carry one idempotency
    /// key.
    pub async fn document(self, document: &Document, workspace: &str) -> Result<StoredDocument, SkillError> {
        let core = self.context.core()?;
        self.context
            .bounded(core.store_document(document, workspace))
            .await
    }

    /// What the platform remembers about the query's subject.
    pub async fn recall(self, query: &RecallQuery) -> Result<Recall, SkillError> {
        let core = self.context.core()?;
        self.context.bounded(core.recall(query)).await
    }

    /// All entities in `workspace` that `query` asks for, of all pages.
    ///
    /// # Errors
    /// `knowledge_query_too_large` when there are more than the query's `max_items`: a part of them is never the answer.
    pub async fn query(self, query: &EntityQuery, workspace: &str) -> Result<Vec<EntityRecord>, SkillError> {
        let core = self.context.core()?;
        self.context.bounded(core.query_entities(query, workspace)).await
    }
}
