//! Two skills that load a table of branches into the knowledge base of the platform.
//!
//! - [`preview()`] (`branches.preview@1`) reads a CSV artifact and reports what loading it would change.
//! - [`apply()`] (`branches.apply@1`) makes exactly these changes, or reports that the branches have changed in the
//!   meantime.
//!
//! Between the two calls, a process shows the plan to a person for approval. The `stateToken` of the plan connects the
//! two calls.

mod table;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::knowledge::{Snapshot, SnapshotPlan, SnapshotStale};
use skill_sdk::{SkillContext, SkillError, skill};

/// The table to load, and its destination.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Load {
    /// The id of the artifact: CSV with the columns `key`, `name`, `city` and `seats`.
    #[schemars(length(min = 1, max = 200))]
    pub artifact: String,
    /// The workspace of the branches.
    #[schemars(length(min = 1, max = 200))]
    pub workspace: String,
}

/// The changes that loading a table makes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The keys of new branches. A long list is truncated.
    pub opened: Vec<String>,
    /// The keys of changed branches. A long list is truncated.
    pub changed: Vec<String>,
    /// The keys of removed branches. A long list is truncated.
    pub closed: Vec<String>,
    /// The number of unchanged branches.
    pub unchanged: u64,
    /// The token to pass to `branches.apply`.
    pub state_token: String,
}

impl From<SnapshotPlan> for Plan {
    fn from(plan: SnapshotPlan) -> Self {
        let keys = |entities: Vec<skill_sdk::knowledge::EntityKey>| {
            entities.into_iter().map(|entity| entity.key).collect()
        };
        Self {
            opened: keys(plan.changes.opened),
            changed: keys(plan.changes.changed),
            closed: keys(plan.changes.closed),
            unchanged: plan.unchanged,
            state_token: plan.state_token,
        }
    }
}

/// Preview the changes that loading a table of branches would make. Nothing is written.
#[skill(
    "branches.preview",
    version = "1",
    side_effects = "external_read",
    risk = "low",
    timeout = 120,
    retry = (3, 10),
    title = "Preview a table of branches",
    tags = ["branches"],
)]
pub async fn preview(inputs: Load, ctx: &SkillContext) -> Result<Plan, SkillError> {
    let snapshot = read(&inputs.artifact, ctx).await?;
    let plan = ctx.knowledge().preview(&snapshot, &inputs.workspace).await?;
    Ok(plan.into())
}

/// The table to load, its destination, and the state it was previewed for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Apply {
    /// The id of the previewed artifact.
    #[schemars(length(min = 1, max = 200))]
    pub artifact: String,
    /// The workspace of the branches.
    #[schemars(length(min = 1, max = 200))]
    pub workspace: String,
    /// The `stateToken` of the approved plan.
    #[schemars(length(min = 1, max = 128))]
    pub state_token: String,
}

/// The result of loading a table.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Applied {
    /// Whether the branches now match the table.
    pub applied: bool,
    /// The changes of this call; empty if an earlier attempt has loaded the table; null if it was not loaded.
    pub plan: Option<Plan>,
    /// Why nothing was changed; null if it was.
    pub reason: Option<NotApplied>,
}

/// Why a table was not loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotApplied {
    /// The branches have changed since the plan was made: preview the table again.
    Stale,
}

/// Load a table of branches, if they have not changed since its plan was made.
//
// A change in the meantime is an expected outcome that a process handles, so it is an output. A failure would stop the
// process.
#[skill(
    "branches.apply",
    version = "1",
    side_effects = "external_write",
    risk = "medium",
    idempotency = "natural",
    timeout = 120,
    retry = (3, 10),
    title = "Load a table of branches",
    tags = ["branches"],
)]
pub async fn apply(inputs: Apply, ctx: &SkillContext) -> Result<Applied, SkillError> {
    let snapshot = read(&inputs.artifact, ctx).await?;
    let applied = ctx
        .knowledge()
        .apply(&snapshot, &inputs.workspace, Some(&inputs.state_token));
    match applied.await {
        Ok(plan) => Ok(Applied {
            applied: true,
            plan: Some(plan.into()),
            reason: None,
        }),
        Err(error) if SnapshotStale::of(&error).is_some() => stale(&snapshot, &inputs.workspace, ctx).await,
        Err(error) => Err(error),
    }
}

/// Handles a stale plan. If the branches already match the table, an earlier attempt of this call has loaded it and its
/// response was lost. The retry then succeeds with a plan in which everything is unchanged.
async fn stale(snapshot: &Snapshot, workspace: &str, ctx: &SkillContext) -> Result<Applied, SkillError> {
    let left = ctx.knowledge().preview(snapshot, workspace).await?;
    let done = left.opened == 0 && left.closed == 0;
    Ok(Applied {
        applied: done,
        plan: done.then(|| left.into()),
        reason: (!done).then_some(NotApplied::Stale),
    })
}

async fn read(artifact: &str, ctx: &SkillContext) -> Result<Snapshot, SkillError> {
    let artifact = ctx.artifacts().read(artifact).await?;
    let entities = table::entities(artifact.text()?)?;
    ctx.add_cost("row", entities.iter().map(|_| 1.0).sum());
    Ok(Snapshot::new("offices", "table:branches", "all").entities(entities))
}
