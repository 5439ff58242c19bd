//! Running the program `git`: no shell, no settings of the machine or of its user, no hooks, no questions.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use skill_sdk::{SkillContext, SkillError};

use crate::failure::MergeFailure;

/// Who the merge commits are by. The settings of the machine's user are out of sight.
const IDENTITY: (&str, &str) = ("git.merge", "git.merge@skills.invalid");

/// How long a command runs before the skill asks again whether somebody waits for it.
const PATIENCE: Duration = Duration::from_millis(50);

/// The program, working on one repository for one call.
pub(crate) struct Git<'a> {
    directory: PathBuf,
    ctx: &'a SkillContext,
}

/// What a command that ended left behind.
pub(crate) struct Finished {
    command: String,
    status: ExitStatus,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl<'a> Git<'a> {
    /// For the repository whose own files (`HEAD`, `objects`, …) lie in `directory`.
    pub(crate) fn new(directory: PathBuf, ctx: &'a SkillContext) -> Self {
        Self { directory, ctx }
    }

    /// Runs a command that may be ended at any moment, and ends it when nobody waits for the call any more.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Finished, SkillError> {
        let child = self.start(arguments, Stdio::null())?;
        self.finish(arguments, child, true)
    }

    /// Runs a command that must not be ended half-way, with `input` on its standard input.
    pub(crate) fn run_to_the_end(&self, arguments: &[&str], input: &str) -> Result<Finished, SkillError> {
        let mut child = self.start(arguments, Stdio::piped())?;
        // Dropped at once: the command reads to the end. A command that failed before it read says so by its exit code.
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
            // Nothing of what surrounds the host may change what a merge does …
            .env_clear()
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env(
                "GIT_CONFIG_GLOBAL",
                if cfg!(windows) { "NUL" } else { "/dev/null" },
            )
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            // … nor make it wait for a person …
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("LC_ALL", "C")
            .env("GIT_AUTHOR_NAME", name)
            .env("GIT_AUTHOR_EMAIL", email)
            .env("GIT_COMMITTER_NAME", name)
            .env("GIT_COMMITTER_EMAIL", email)
            // … and with the repository named, none of a directory above it is taken in its place.
            .env("GIT_DIR", &self.directory)
            .current_dir(&self.directory)
            .args(["-c", "core.hooksPath=/dev/null"])
            // Others who write the same branch take a moment, not more.
            .args(["-c", "core.filesRefLockTimeout=2000"])
            .args(arguments)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // What the operating system needs to find and start a program.
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
        // Threads of their own for the pipes: a full one would stop the program.
        let (done, ended) = mpsc::channel::<()>();
        let stdout = read(child.stdout.take(), Some(done));
        let stderr = read(child.stderr.take(), None);
        // Nothing is ever sent; the channel closes when the output ends.
        while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            if may_end && let Err(reason) = self.ctx.check_deadline() {
                // It may have ended by itself just now, which is as good.
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
    /// The exit code; `None` when a signal ended the program.
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

    /// The failure of a command that ended with an exit code that says nothing about the branches.
    pub(crate) fn unexpected(&self) -> SkillError {
        self.failure(&match self.code() {
            Some(code) => format!("ended with the exit code {code}"),
            None => "was ended by a signal".to_owned(),
        })
    }

    fn failure(&self, what: &str) -> SkillError {
        // What the program complained about may name paths of the machine: it is for the log.
        let complaint = String::from_utf8_lossy(&self.stderr).trim().to_owned();
        failed(&[&self.command], what).with_source(complaint)
    }
}

fn failed(arguments: &[&str], what: &str) -> SkillError {
    let command = arguments.first().copied().unwrap_or_default().to_owned();
    let what = what.to_owned();
    MergeFailure::Git { command, what }.into()
}

/// A thread that reads to the end.
struct Reading(thread::JoinHandle<io::Result<Vec<u8>>>);

/// Reads a pipe to its end, and drops `done` then.
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
