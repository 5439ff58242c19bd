//! What can go wrong, each with a code of its own.

use std::fmt;

use skill_sdk::SkillFailure;

use crate::BranchName;

/// Why a merge could not be tried. An outcome that a merge is expected to have is a [`Reason`](crate::Reason) instead.
#[derive(Debug, SkillFailure)]
#[non_exhaustive]
pub enum MergeFailure {
    /// There is no repository of this name below the root.
    #[failure(code = "repository_unknown")]
    RepositoryUnknown,
    /// The repository has no such branch.
    #[failure(code = "branch_missing")]
    BranchMissing(BranchName),
    /// The branches have no commit in common.
    #[failure(code = "histories_unrelated")]
    HistoriesUnrelated,
    /// Others kept moving the target.
    #[failure(code = "target_busy", retryable)]
    TargetBusy(BranchName),
    /// The variable `GIT_ROOT` is missing, or what it names is no directory.
    #[failure(code = "config_missing", retryable)]
    RootMissing,
    /// The program `git` failed in a way that says nothing about the branches.
    #[failure(code = "git_unavailable", retryable)]
    Git {
        /// The command of `git`: `merge-tree`.
        command: String,
        /// What happened, without anything that the program wrote: it may name paths of the machine.
        what: String,
    },
}

impl fmt::Display for MergeFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepositoryUnknown => f.write_str("there is no such repository below GIT_ROOT"),
            Self::BranchMissing(branch) => write!(f, "the repository has no branch `{branch}`"),
            Self::HistoriesUnrelated => f.write_str("the branch and the target have no commit in common"),
            Self::TargetBusy(target) => write!(f, "`{target}` kept moving while it was merged into"),
            Self::RootMissing => {
                f.write_str("the variable GIT_ROOT must name the directory that holds the repositories")
            }
            Self::Git { command, what } => write!(f, "`git {command}` {what}"),
        }
    }
}

impl std::error::Error for MergeFailure {}
