//! A skill with an external side effect: it merges branches of Git repositories on disk.
//!
//! What it shows:
//!
//! - **Outcomes are outputs, failures are errors.** A conflict is an expected result of a merge, so it is a [`Reason`] in
//!   [`MergeOut`]. A missing branch is a mistake of the caller, so it is a terminal failure. A program that cannot be
//!   started is a problem of the environment, so it is a retryable failure.
//! - **Natural idempotency.** A retry finds its commit in the target and returns `already_merged`. It merges nothing, so
//!   no idempotency key is needed.
//! - **Inputs are parsed, not checked.** A [`RepositoryName`], [`BranchName`] or [`CommitId`] can only contain a value
//!   that is safe to pass to `git`. Any other string violates the input contract, and the violation names the field.
//! - **Blocking work is an ordinary `fn`.** The server runs it on the pool for blocking work. A thread cannot be stopped
//!   from outside, so the skill checks its deadline and kills the program that it waits for.
//!
//! The repositories are below the directory that `GIT_ROOT` names. Try it:
//!
//! ```text
//! skill-sdk invoke git.merge --env GIT_ROOT=/srv/git \
//!     --input '{"repository": "team/app.git", "branch": "feature", "commit": "<40 hexadecimal digits>", "target": "main"}'
//! ```

mod failure;
mod names;
mod program;
mod repository;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill_sdk::{SkillContext, SkillError, skill};

pub use crate::failure::MergeFailure;
pub use crate::names::{BranchName, CommitId, NameError, RepositoryName};
use crate::repository::{Advance, Repository};

/// How often a merge starts over because the target moved.
///
/// Each attempt is lost to another merge that succeeded, so only a very busy target needs them all.
const ATTEMPTS: usize = 10;

/// The merge to perform.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeIn {
    /// The repository: its path below the root of all repositories.
    pub repository: RepositoryName,
    /// The branch to merge.
    pub branch: BranchName,
    /// The full id of the commit that the branch must point at.
    pub commit: CommitId,
    /// The branch to merge into.
    pub target: BranchName,
}

/// The result of a merge.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MergeOut {
    /// Whether the target contains the commit now.
    pub merged: bool,
    /// The commit that the target points at now; null if it does not contain the commit.
    pub sha: Option<String>,
    /// Why nothing was written; null if a merge commit was written.
    pub reason: Option<Reason>,
}

/// Why nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Both sides changed the same lines: a person has to resolve the conflict.
    Conflict,
    /// The branch points at another commit than the given one.
    BranchMoved,
    /// The target already contained the commit.
    AlreadyMerged,
}

impl MergeOut {
    fn written(sha: String) -> Self {
        Self {
            merged: true,
            sha: Some(sha),
            reason: None,
        }
    }

    fn already_merged(sha: String) -> Self {
        Self {
            merged: true,
            sha: Some(sha),
            reason: Some(Reason::AlreadyMerged),
        }
    }

    fn refused(reason: Reason) -> Self {
        Self {
            merged: false,
            sha: None,
            reason: Some(reason),
        }
    }
}

/// Merge a published branch into its target.
///
/// Always writes a merge commit and never fast-forwards. No working tree is touched: if the target is checked out in a
/// repository with a working tree, that tree is behind afterwards, as after a push.
#[skill(
    "git.merge",
    version = "2",
    side_effects = "external_write",
    risk = "medium",
    idempotency = "natural",
    timeout = 300,
    retry = (3, 30),
    title = "Merge a branch",
    tags = ["git"],
    config = ["GIT_ROOT"],
)]
pub fn merge(inputs: MergeIn, ctx: &SkillContext) -> Result<MergeOut, SkillError> {
    let repository = Repository::open(&inputs.repository, ctx)?;
    for _ in 0..ATTEMPTS {
        // Between two attempts nothing is half done, so it is safe to stop here.
        ctx.check_deadline()?;
        if let Some(outcome) = attempt(&repository, &inputs)? {
            return Ok(outcome);
        }
    }
    Err(MergeFailure::TargetBusy(inputs.target).into())
}

/// Merges into the current target; `None` if one of the branches moved before the result was written.
fn attempt(repository: &Repository<'_>, inputs: &MergeIn) -> Result<Option<MergeOut>, SkillError> {
    let MergeIn {
        branch,
        commit,
        target,
        ..
    } = inputs;
    let missing = |branch: &BranchName| MergeFailure::BranchMissing(branch.clone());

    let Some(onto) = repository.tip(target)? else {
        return Err(missing(target).into());
    };
    // Check this first: the branch may have been deleted after its merge, and a retry must still succeed.
    if repository.contains(&onto, commit)? {
        return Ok(Some(MergeOut::already_merged(onto)));
    }
    match repository.tip(branch)? {
        None => return Err(missing(branch).into()),
        Some(tip) if tip != commit.as_str() => {
            return Ok(Some(MergeOut::refused(Reason::BranchMoved)));
        }
        Some(_) => {}
    }
    if !repository.are_related(&onto, commit)? {
        return Err(MergeFailure::HistoriesUnrelated.into());
    }
    let Some(tree) = repository.merged_tree(&onto, commit)? else {
        return Ok(Some(MergeOut::refused(Reason::Conflict)));
    };
    let message = format!("Merge branch '{branch}' into {target}");
    let merged = repository.write_commit(&tree, &[&onto, commit.as_str()], &message)?;
    let advance = Advance {
        target,
        from: &onto,
        to: &merged,
        branch,
        commit,
    };
    Ok(repository.advance(&advance)?.then(|| MergeOut::written(merged)))
}
