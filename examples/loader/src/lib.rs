//! Two skills that load a table of branches into the knowledge of the platform.
//!
//! - [`preview()`] (`branches.preview@1`) reads a CSV artifact and says what loading it would change.
//! - [`apply()`] (`branches.apply@1`) does exactly that, or says that somebody else has changed the branches since then.
//!
//! A process shows the plan to somebody between the two. The `stateToken` of the plan is what ties them together.

mod table;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::knowledge::{Snapshot, SnapshotPlan, SnapshotStale};
use skill_sdk::{SkillContext, SkillError, skill};

/// Which table is loaded where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Load {
    /// The id of the artifact: CSV with the columns `key`, `name`, `city` and `seats`.
    #[schemars(length(min = 1, max = 200))]
    pub artifact: String,
    /// The workspace that the branches belong to.
    #[schemars(length(min = 1, max = 200))]
    pub workspace: String,
}

/// What loading a table changes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The keys of branches that are new, or the first of them.
    pub opened: Vec<String>,
    /// The keys of branches that become different, or the first of them.
    pub changed: Vec<String>,
    /// The keys of branches that are gone, or the first of them.
    pub closed: Vec<String>,
    /// How many branches stay as they are.
    pub unchanged: u64,
    /// What to give to `branches.apply`.
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

/// What loading a table of branches would change. Nothing is written.
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

/// Which table is loaded where, for which state.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Apply {
    /// The id of the artifact: the one that was previewed.
    #[schemars(length(min = 1, max = 200))]
    pub artifact: String,
    /// The workspace that the branches belong to.
    #[schemars(length(min = 1, max = 200))]
    pub workspace: String,
    /// The `stateToken` of the plan that somebody has agreed to.
    #[schemars(length(min = 1, max = 128))]
    pub state_token: String,
}

/// What became of a table.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Applied {
    /// Whether the branches are now those of the table.
    pub applied: bool,
    /// What this call changed: nothing when an earlier try had loaded the table; null when it was not loaded.
    pub plan: Option<Plan>,
    /// Why nothing was changed; null when it was.
    pub reason: Option<NotApplied>,
}

/// Why a table was not loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotApplied {
    /// The branches have changed since the plan was made: preview again.
    Stale,
}

/// Load a table of branches, if they are still as they were when its plan was made.
//
// That somebody else was quicker is an outcome that a process handles, so it is an output. A failure would end it.
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

/// The branches are not those that the plan was made for. When nothing of the table is missing, an earlier try of this call
/// has loaded it and its answer was lost: a repeat says that it is done, with a plan in which all of it is unchanged.
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
