//! A skill that writes outside of the program: it merges branches of Git repositories on disk.
//!
//! What an author can take from it:
//!
//! - **Outcomes are outputs, failures are errors.** A conflict is something that a merge is expected to meet, so it is a
//!   [`Reason`] in [`MergeOut`]. A branch that does not exist is a mistake of the caller, so it is a failure that no
//!   repetition mends. A program that cannot be started is a failure of the environment, so it is retryable.
//! - **Natural idempotency.** A repeat of a call finds its commit in the target and says `already_merged`: there is no
//!   second merge, and no key is needed.
//! - **Inputs are parsed, not checked.** [`RepositoryName`], [`BranchName`] and [`CommitId`] can only hold what is safe to
//!   hand to `git`; a text that is not becomes a violation of the input contract with the path of the field.
//! - **Blocking work is an ordinary `fn`.** The host runs it on its pool of blocking threads. Nobody can stop a thread from
//!   outside, so the skill asks its context whether the time is up, and ends the program that it waits for.
//!
//! The repositories lie below the directory that the variable `GIT_ROOT` names. Try it:
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

/// How often a merge starts over because the target moved meanwhile.
///
/// Each time somebody else's merge got through, so only a very busy target uses them up.
const ATTEMPTS: usize = 10;

/// What is merged where.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MergeIn {
    /// The repository: its path below the root of all repositories.
    pub repository: RepositoryName,
    /// The branch that is merged.
    pub branch: BranchName,
    /// The commit that the branch is expected to point at, in full.
    pub commit: CommitId,
    /// The branch that is merged into.
    pub target: BranchName,
}

/// What became of the target.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MergeOut {
    /// Whether the target holds the commit now.
    pub merged: bool,
    /// The commit that the target points at now; null when it does not hold the commit.
    pub sha: Option<String>,
    /// Why nothing was written; null when a merge commit was.
    pub reason: Option<Reason>,
}

/// Why nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Both sides changed the same lines: a person has to decide.
    Conflict,
    /// The branch points at another commit than the one given.
    BranchMoved,
    /// The target held the commit before.
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
/// Always writes a merge commit, never moves the target forward without one. No working tree is touched: in a repository
/// with one, a target that is checked out there is behind afterwards, as after a push.
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
        // Between two attempts nothing is half-done, so this is the place to give up.
        ctx.check_deadline()?;
        if let Some(outcome) = attempt(&repository, &inputs)? {
            return Ok(outcome);
        }
    }
    Err(MergeFailure::TargetBusy(inputs.target).into())
}

/// Merges what the target is now; `None` when one of the branches moved before the result was written.
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
    // First of all, so that a repeat is harmless even when the branch was deleted after its merge.
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
