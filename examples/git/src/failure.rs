//! The failures of a merge, each with its own code.

use std::fmt;

use skill_sdk::SkillFailure;

use crate::BranchName;

/// Why a merge could not be attempted. An expected outcome of a merge is a [`Reason`](crate::Reason) instead.
#[derive(Debug, SkillFailure)]
#[non_exhaustive]
pub enum MergeFailure {
    /// The repository does not exist below the root.
    #[failure(code = "repository_unknown")]
    RepositoryUnknown,
    /// The repository has no such branch.
    #[failure(code = "branch_missing")]
    BranchMissing(BranchName),
    /// The branches have no commit in common.
    #[failure(code = "histories_unrelated")]
    HistoriesUnrelated,
    /// Other merges kept moving the target.
    #[failure(code = "target_busy", retryable)]
    TargetBusy(BranchName),
    /// The environment variable `GIT_ROOT` is not set, or does not name a directory.
    #[failure(code = "config_missing", retryable)]
    RootMissing,
    /// `git` failed for a reason unrelated to the branches.
    #[failure(code = "git_unavailable", retryable)]
    Git {
        /// The subcommand of `git`, such as `merge-tree`.
        command: String,
        /// What happened. Never the output of `git`, which may contain paths of the machine.
        what: String,
    },
}

impl fmt::Display for MergeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepositoryUnknown => f.write_str("the repository does not exist below GIT_ROOT"),
            Self::BranchMissing(branch) => write!(f, "the repository has no branch `{branch}`"),
            Self::HistoriesUnrelated => f.write_str("the branch and the target have no commit in common"),
            Self::TargetBusy(target) => write!(f, "`{target}` was moved by other merges in every attempt"),
            Self::RootMissing => f.write_str(
                "the environment variable GIT_ROOT must name the directory that contains the repositories",
            ),
            Self::Git { command, what } => write!(f, "`git {command}` {what}"),
        }
    }
}

impl std::error::Error for MergeFailure {}
