//! Repositories for the tests, written without a working tree.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use skill_sdk::pipeline::Meta;
use skill_sdk::testing::{Invoke, invoke};
use skill_sdk::{Environment, SkillContext};
use tempfile::TempDir;

use crate::merge;

/// A root with one repository, `team/app.git`, whose `main` has one commit.
pub(super) struct Fixture {
    directory: TempDir,
    /// The initial commit of `main`.
    pub(super) base: String,
}

impl Fixture {
    /// A bare repository.
    pub(super) fn bare() -> Self {
        Self::new(&["--bare"])
    }

    /// A repository with a working tree.
    pub(super) fn ordinary() -> Self {
        Self::new(&[])
    }

    fn new(arguments: &[&str]) -> Self {
        let mut fixture = Self {
            directory: TempDir::new().unwrap(),
            base: String::new(),
        };
        std::fs::create_dir_all(fixture.repository()).unwrap();
        fixture.git(&[&["init", "--quiet", "--initial-branch=main"], arguments].concat());
        fixture.base = fixture.publish("main", None, &[("readme", "one\n"), ("list", "a\nb\nc\n")]);
        fixture
    }

    pub(super) fn root(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    pub(super) fn repository(&self) -> PathBuf {
        self.root().join("team/app.git")
    }

    /// Writes a commit with `files` on top of `parent`, and moves the branch to it.
    pub(super) fn publish(&self, branch: &str, parent: Option<&str>, files: &[(&str, &str)]) -> String {
        let tree = files.iter().fold(String::new(), |tree, (name, text)| {
            let blob = self.git_with(&["hash-object", "-w", "--stdin"], text);
            tree + &format!("100644 blob {blob}\t{name}\n")
        });
        let tree = self.git_with(&["mktree"], &tree);
        let message = format!("{branch}: {files:?}");
        let mut arguments = vec!["commit-tree", &tree, "-m", &message];
        arguments.extend(parent.iter().flat_map(|parent| ["-p", parent]));
        let commit = self.git(&arguments);
        self.git(&["update-ref", &format!("refs/heads/{branch}"), &commit]);
        commit
    }

    /// Runs `git` in the repository and returns its output. It must succeed.
    pub(super) fn git(&self, arguments: &[&str]) -> String {
        self.git_with(arguments, "")
    }

    fn git_with(&self, arguments: &[&str], input: &str) -> String {
        let mut child = Command::new("git")
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "Ada")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "ada@example.com")))
            .current_dir(self.repository())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    pub(super) fn tip(&self, branch: &str) -> String {
        self.git(&["rev-parse", &format!("refs/heads/{branch}")])
    }

    /// The content of a file in a branch.
    pub(super) fn file(&self, branch: &str, name: &str) -> String {
        self.git(&["show", &format!("refs/heads/{branch}:{name}")])
    }

    /// The number of commits in the history of a branch.
    pub(super) fn commits(&self, branch: &str) -> usize {
        self.git(&["rev-list", "--count", &format!("refs/heads/{branch}")])
            .parse()
            .unwrap()
    }

    /// A call that merges `commit` of `branch` into `main`.
    pub(super) fn merge(&self, branch: &str, commit: &str) -> Invoke {
        self.call(&json!({
            "repository": "team/app.git", "branch": branch, "commit": commit, "target": "main",
        }))
    }

    pub(super) fn call(&self, inputs: &Value) -> Invoke {
        invoke(merge::SKILL, inputs).env("GIT_ROOT", text(&self.root()))
    }

    /// The context of a call with this timeout, for testing the functions below the skill.
    pub(super) fn context(&self, timeout: Option<Duration>) -> SkillContext {
        let mut meta = Meta::new("test");
        meta.environment = Environment::from_vars([("GIT_ROOT".to_owned(), text(&self.root()))]);
        meta.timeout = timeout;
        SkillContext::new("git.merge@2", meta)
    }
}

pub(super) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}
