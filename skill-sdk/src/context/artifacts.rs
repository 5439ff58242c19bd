//! The artifacts of the platform.

use super::SkillContext;
use crate::error::SkillError;
use crate::platform::core::artifacts::Artifact;

impl SkillContext {
    /// The artifacts of the platform. Needs feature `core`.
    ///
    /// ```
    /// use skill_sdk::{SkillContext, SkillError, skill};
    ///
    /// /// How many lines an artifact has.
    /// #[skill("artifact.lines", version = "1", side_effects = "external_read", risk = "low")]
    /// async fn lines(artifact: String, ctx: &SkillContext) -> Result<usize, SkillError> {
    ///     let artifact = ctx.artifacts().read(&artifact).await?;
    ///     Ok(artifact.text()?.lines().count())
    /// }
    /// ```
    pub fn artifacts(&self) -> Artifacts<'_> {
        Artifacts { context: self }
    }
}

/// The artifacts of the platform: see [`SkillContext::artifacts`].
#[derive(Debug, Clone, Copy)]
pub struct Artifacts<'a> {
    context: &'a SkillContext,
}

impl Artifacts<'_> {
    /// The artifact `id`. It is read into memory, and its hash is compared with that of the core.
    ///
    /// # Errors
    /// - a code of the core, such as `not_found`
    /// - `artifact_too_large`: it is larger than [`MAX_ARTIFACT_BYTES`](crate::artifacts::MAX_ARTIFACT_BYTES)
    /// - `content_integrity_failed`: the hash differs from that of the core
    /// - `artifact_not_found`: the id is empty or consists of dots
    /// - the codes of every request to the core, such as `config_missing` and `core_unavailable` (retryable)
    pub async fn read(self, id: &str) -> Result<Artifact, SkillError> {
        self.fetch(id, None).await
    }

    /// The artifact `id`, read with the rights of the task `task`.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub async fn read_for_task(self, id: &str, task: &str) -> Result<Artifact, SkillError> {
        self.fetch(id, Some(task)).await
    }

    async fn fetch(self, id: &str, task: Option<&str>) -> Result<Artifact, SkillError> {
        let core = self.context.core()?;
        self.context.bounded(core.read_artifact(id, task)).await
    }
}
