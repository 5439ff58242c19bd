//! A repository on disk, and the operations that a merge needs.

use std::path::{Path, PathBuf};

use skill_sdk::{SkillContext, SkillError};

use crate::failure::MergeFailure;
use crate::names::{BranchName, CommitId, RepositoryName};
use crate::program::Git;

/// A repository below the root.
pub(crate) struct Repository<'a>(Git<'a>);

/// An update of the target branch.
pub(crate) struct Advance<'a> {
    /// The branch to move,
    pub(crate) target: &'a BranchName,
    /// from this commit
    pub(crate) from: &'a str,
    /// to this one,
    pub(crate) to: &'a str,
    /// provided that this branch
    pub(crate) branch: &'a BranchName,
    /// still points at this commit.
    pub(crate) commit: &'a CommitId,
}

impl<'a> Repository<'a> {
    /// Finds the repository below the directory that `GIT_ROOT` names.
    pub(crate) fn open(name: &RepositoryName, ctx: &'a SkillContext) -> Result<Self, SkillError> {
        let root = ctx.config("GIT_ROOT").filter(|root| !root.is_empty());
        let root = root.and_then(|root| Path::new(&root).canonicalize().ok());
        let root = root
            .filter(|root| root.is_dir())
            .ok_or(MergeFailure::RootMissing)?;
        // The same failure for everything that is not a repository below the root, so that a caller learns nothing about
        // other paths.
        let directory = find(&root, name).ok_or(MergeFailure::RepositoryUnknown)?;
        Ok(Self(Git::new(directory, ctx)))
    }

    /// The commit that a branch points at; `None` if the branch does not exist.
    pub(crate) fn tip(&self, branch: &BranchName) -> Result<Option<String>, SkillError> {
        self.resolve(&format!("{}^{{commit}}", full(branch)))
    }

    /// Whether `commit` is in the history of the commit `descendant`.
    pub(crate) fn contains(&self, descendant: &str, commit: &CommitId) -> Result<bool, SkillError> {
        if self.resolve(&format!("{commit}^{{commit}}"))?.is_none() {
            return Ok(false);
        }
        self.yes_or_no(&["merge-base", "--is-ancestor", commit.as_str(), descendant])
    }

    /// Whether two commits have a common ancestor.
    pub(crate) fn are_related(&self, one: &str, other: &CommitId) -> Result<bool, SkillError> {
        self.yes_or_no(&["merge-base", one, other.as_str()])
    }

    /// The tree that results from merging `commit` into the commit `onto`; `None` if they conflict.
    pub(crate) fn merged_tree(&self, onto: &str, commit: &CommitId) -> Result<Option<String>, SkillError> {
        let merged = self.0.run(&[
            "merge-tree",
            "--write-tree",
            "--no-messages",
            "--",
            onto,
            commit.as_str(),
        ])?;
        match merged.code() {
            Some(0) => merged.line().map(Some),
            Some(1) => Ok(None),
            _ => Err(merged.unexpected()),
        }
    }

    /// Writes a commit that no branch points at yet.
    pub(crate) fn write_commit(
        &self,
        tree: &str,
        parents: &[&str],
        message: &str,
    ) -> Result<String, SkillError> {
        let mut arguments = vec!["commit-tree", tree, "-m", message];
        arguments.extend(parents.iter().flat_map(|parent| ["-p", parent]));
        let written = self.0.run(&arguments)?;
        match written.code() {
            Some(0) => written.line(),
            _ => Err(written.unexpected()),
        }
    }

    /// Moves the target in one step. Returns `false` and changes nothing if one of the branches has moved.
    pub(crate) fn advance(&self, advance: &Advance<'_>) -> Result<bool, SkillError> {
        let Advance {
            target,
            from,
            to,
            branch,
            commit,
        } = advance;
        let target = full(target);
        let mut instructions = format!("update {target} {to} {from}\n");
        let branch = full(branch);
        if branch != target {
            instructions += &format!("verify {branch} {commit}\n");
        }
        // Killing this command would leave its lock file behind and block the branch.
        let moved = self
            .0
            .run_uninterrupted(&["update-ref", "--stdin"], &instructions)?;
        match moved.code() {
            Some(0) => Ok(true),
            // The exit code does not tell a moved branch from a full disk; looking again does.
            _ if self.tip(advance.target)?.as_deref() != Some(from)
                || self.tip(advance.branch)?.as_deref() != Some(commit.as_str()) =>
            {
                Ok(false)
            }
            _ => Err(moved.unexpected()),
        }
    }

    fn resolve(&self, revision: &str) -> Result<Option<String>, SkillError> {
        let resolved = self
            .0
            .run(&["rev-parse", "--verify", "--quiet", "--end-of-options", revision])?;
        match resolved.code() {
            Some(0) => resolved.line().map(Some),
            Some(1) => Ok(None),
            _ => Err(resolved.unexpected()),
        }
    }

    /// Runs a command that reports yes or no by its exit code.
    fn yes_or_no(&self, arguments: &[&str]) -> Result<bool, SkillError> {
        let answer = self.0.run(arguments)?;
        match answer.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(answer.unexpected()),
        }
    }
}

/// The full name of the branch, which `git` cannot mistake for anything else.
fn full(branch: &BranchName) -> String {
    format!("refs/heads/{branch}")
}

/// The directory with the files of the repository: `.git` if there is a working tree, else the repository itself.
///
/// Symbolic links are resolved before the check, so none leads outside of the root.
fn find(root: &Path, name: &RepositoryName) -> Option<PathBuf> {
    let place = root.join(name.as_str());
    let hidden = place.join(".git");
    let directory = if hidden.exists() { hidden } else { place };
    let directory = directory.canonicalize().ok()?;
    let is_repository = directory.join("HEAD").is_file() && directory.join("objects").is_dir();
    (directory.starts_with(root) && is_repository).then_some(directory)
}
