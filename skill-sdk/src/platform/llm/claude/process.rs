//! Runs the CLI: one child process in a process group of its own.

use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::{Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::timeout;

use crate::environment::Environment;
use crate::error::SkillError;
use crate::platform::llm::model::ChatError;

/// The largest standard output, in bytes.
const MAX_OUTPUT: u64 = 8 * 1024 * 1024;

/// How much of standard error is kept, in bytes.
const MAX_ERRORS: u64 = 64 * 1024;

/// How long the pipes are read after the program ended. A process that it left behind may keep them open for ever.
const PIPES: Duration = Duration::from_secs(1);

/// Keys that would make the CLI use the API instead of its subscription.
const REMOVED: &[&str] = &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"];

/// Runs the program to its end. Dropping the future kills the whole process group.
pub(super) async fn run(
    binary: &Path,
    arguments: &[&str],
    input: Vec<u8>,
    environment: &Environment,
) -> Result<Output, ChatError> {
    // Dropped last, so that the directory is removed after the processes ended.
    let directory = directory().map_err(|error| not_started(binary, error))?;
    let mut command = Command::new(binary);
    command
        .args(arguments)
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if environment.is_isolated() {
        command.env_clear();
    }
    command.envs(environment.own());
    for name in REMOVED {
        command.env_remove(name);
    }
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(|error| not_started(binary, error))?;
    let mut group = Group(child.id());
    let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(mut stderr)) = streams else {
        return Err(broken(io::ErrorKind::BrokenPipe.into()));
    };
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let read = {
        let writing = async move {
            // A program may reply without reading all of its input.
            let _ = stdin.write_all(&input).await;
            Ok(())
        };
        let answering = async {
            match stdout.take(MAX_OUTPUT + 1).read_to_end(&mut output).await? as u64 {
                ..=MAX_OUTPUT => Ok(()),
                _ => Err(io::ErrorKind::FileTooLarge.into()),
            }
        };
        let complaining = async {
            (&mut stderr).take(MAX_ERRORS).read_to_end(&mut errors).await?;
            tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await
        };
        let mut streams = pin!(async { tokio::try_join!(writing, answering, complaining) });
        tokio::select! {
            read = &mut streams => Some(read),
            // A process that it started may keep the pipes open.
            _ = child.wait() => timeout(PIPES, &mut streams).await.ok(),
        }
    };
    let ended = read.is_some();
    if output.len() as u64 > MAX_OUTPUT {
        let message = format!("Claude Code wrote more than {MAX_OUTPUT} bytes");
        return Err(SkillError::retryable("llm_failed", message).into());
    }
    read.transpose().map_err(broken)?;
    let status = child.wait().await.map_err(broken)?;
    if ended {
        group.0 = None;
    }
    Ok(Output {
        status,
        stdout: output,
        stderr: errors,
    })
}

/// An empty directory that only this user can access.
fn directory() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("skill-llm-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

/// The process group of a child. It is killed unless the child and its pipes ended.
struct Group(Option<u32>);

impl Drop for Group {
    /// The child itself is killed when it is dropped. Only Unix has process groups.
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal, kill_process_group};

            let id = self.0.and_then(|id| i32::try_from(id).ok());
            if let Some(id) = id.and_then(Pid::from_raw) {
                // The group may have ended by itself.
                let _ = kill_process_group(id, Signal::KILL);
            }
        }
    }
}

fn not_started(binary: &Path, error: io::Error) -> ChatError {
    let message = format!(
        "Claude Code (`{}`) did not start: {}; install it, or set SKILL_LLM_CLAUDE_BINARY to it",
        binary.display().to_string().escape_debug(),
        error.kind()
    );
    SkillError::retryable("llm_unavailable", message)
        .with_source(error)
        .into()
}

fn broken(error: io::Error) -> ChatError {
    SkillError::retryable("llm_failed", "the connection to Claude Code failed")
        .with_source(error)
        .into()
}
