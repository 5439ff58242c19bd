//! Runs `git` without a shell, without settings of the machine or the user, without hooks and without prompts.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use skill_sdk::{SkillContext, SkillError};

use crate::failure::MergeFailure;

/// The author of the merge commits, since no user settings are read.
const IDENTITY: (&str, &str) = ("git.merge", "git.merge@skills.invalid");

/// How often a running command checks the deadline of the call.
const PATIENCE: Duration = Duration::from_millis(50);

/// `git` in one repository, for one call.
pub(crate) struct Git<'a> {
    directory: PathBuf,
    ctx: &'a SkillContext,
}

/// The result of a command.
pub(crate) struct Finished {
    command: String,
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl<'a> Git<'a> {
    /// For the repository whose files (`HEAD`, `objects`, …) are in `directory`.
    pub(crate) fn new(directory: PathBuf, ctx: &'a SkillContext) -> Self {
        Self { directory, ctx }
    }

    /// Runs a command that may be killed at any time. It is killed when the call times out or is cancelled.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Finished, SkillError> {
        let child = self.start(arguments, Stdio::null())?;
        self.finish(arguments, child, true)
    }

    /// Runs a command that must not be interrupted, with `input` on its standard input.
    pub(crate) fn run_uninterrupted(&self, arguments: &[&str], input: &str) -> Result<Finished, SkillError> {
        let mut child = self.start(arguments, Stdio::piped())?;
        // Write errors are ignored: a command that fails before it reads its input reports that by its exit code.
        drop(
            child
                .stdin
                .take()
                .map(|mut stdin| stdin.write_all(input.as_bytes())),
        );
        self.finish(arguments, child, false)
    }

    fn start(&self, arguments: &[&str], stdin: Stdio) -> Result<Child, SkillError> {
        let (name, email) = IDENTITY;
        let mut command = Command::new("git");
        command
            // Nothing in the environment of the server may change the result of a merge …
            .env_clear()
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env(
                "GIT_CONFIG_GLOBAL",
                if cfg!(windows) { "NUL" } else { "/dev/null" },
            )
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // … or make `git` wait for a person …
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", email)
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email)
            // … or make it use a repository in a parent directory.
            .env("GIT_DIR", &self.directory)
            .current_dir(&self.directory)
            .args(["-c", "core.hooksPath=/dev/null"])
            // Other writers of the same branch hold the lock for a moment only.
            .args(["-c", "core.filesRefLockTimeout=2000"])
            .args(arguments)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // The operating system needs these to find and start a program.
        for variable in ["PATH", "SystemRoot"] {
            if let Some(value) = std::env::var_os(variable) {
                command.env(variable, OsStr::new(&value));
            }
        }
        command
            .spawn()
            .map_err(|error| failed(arguments, "could not be started").with_source(error))
    }

    fn finish(&self, arguments: &[&str], mut child: Child, may_end: bool) -> Result<Finished, SkillError> {
        // Separate threads read the pipes: a full pipe would block `git`.
        let (done, ended) = mpsc::channel::<()>();
        let stdout = read(child.stdout.take(), Some(done));
        let stderr = read(child.stderr.take(), None);
        // Nothing is ever sent. The channel closes when the output ends.
        while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            if may_end && let Err(reason) = self.ctx.check_deadline() {
                // The command may have exited by itself, which is fine.
                drop(child.kill());
                drop(child.wait());
                return Err(reason);
            }
        }
        let broken = |error: io::Error| failed(arguments, "could not be waited for").with_source(error);
        Ok(Finished {
            command: arguments.first().copied().unwrap_or_default().to_owned(),
            status: child.wait().map_err(broken)?,
            stdout: stdout.collect().map_err(broken)?,
            stderr: stderr.collect().map_err(broken)?,
        })
    }
}

impl Finished {
    /// The exit code; `None` if a signal killed the command.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The first line of the output.
    pub(crate) fn line(&self) -> Result<String, SkillError> {
        let text = String::from_utf8_lossy(&self.stdout);
        match text.lines().next() {
            Some(line) if !line.is_empty() => Ok(line.to_owned()),
            _ => Err(self.failure("printed nothing")),
        }
    }

    /// The failure of a command whose exit code has no meaning for a merge.
    pub(crate) fn unexpected(&self) -> SkillError {
        self.failure(&match self.code() {
            Some(code) => format!("ended with the exit code {code}"),
            None => "was killed by a signal".to_owned(),
        })
    }

    fn failure(&self, what: &str) -> SkillError {
        // Messages of `git` may contain paths of the machine, so they go to the log only.
        let complaint = String::from_utf8_lossy(&self.stderr).trim().to_owned();
        failed(&[&self.command], what).with_source(complaint)
    }
}

fn failed(arguments: &[&str], what: &str) -> SkillError {
    let command = arguments.first().copied().unwrap_or_default().to_owned();
    let what = what.to_owned();
    MergeFailure::Git { command, what }.into()
}

/// A thread that reads a pipe to its end.
struct Reading(thread::JoinHandle<io::Result<Vec<u8>>>);

/// Reads a pipe to its end, then drops `done`.
fn read(pipe: Option<impl Read + Send + 'static>, done: Option<mpsc::Sender<()>>) -> Reading {
    Reading(thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes)?;
        }
        drop(done);
        Ok(bytes)
    }))
}

impl Reading {
    fn collect(self) -> io::Result<Vec<u8>> {
        self.0
            .join()
            .unwrap_or_else(|_| Err(io::Error::other("the thread that read it panicked")))
    }
}
