//! Running the tool: one child process in a group of its own.

use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::environment::Environment;
use crate::error::SkillError;
use crate::platform::llm::model::ChatError;

/// The most that the tool may write to its standard output, in bytes.
const MAX_OUTPUT: u64 = 8 * 1024 * 1024;

/// How much of its standard error is kept, in bytes.
const MAX_ERRORS: u64 = 64 * 1024;

/// How long the pipes of a program that ended are read for what is still in them. Something that it left behind may hold them
/// open for ever.
const PIPES: Duration = Duration::from_secs(1);

/// Keys that would make the tool ask an API in place of what it is signed in to.
const REMOVED: &[&str] = &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"];

/// What a child left.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) status: ExitStatus,
    pub(super) output: Vec<u8>,
    pub(super) errors: Vec<u8>,
}

/// Runs the program to its end. Dropping the future kills it, with everything that it started and that is still in its group.
pub(super) async fn run(
    binary: &Path,
    arguments: &[&str],
    input: Vec<u8>,
    environment: &Environment,
) -> Result<Finished, ChatError> {
    // Dropped last: nobody works in it any more when it is removed.
    let directory = directory().map_err(|error| not_started("no directory could be made for it", error))?;
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
    let child = command.spawn().map_err(|error| {
        let why = match error.kind() {
            io::ErrorKind::NotFound => "the program is not there",
            io::ErrorKind::PermissionDenied => "the program may not be executed",
            _ => "the system refused it",
        };
        not_started(why, error)
    })?;
    let mut group = Group::of(child);
    let streams = (
        group.child.stdin.take(),
        group.child.stdout.take(),
        group.child.stderr.take(),
    );
    let (Some(mut stdin), Some(stdout), Some(stderr)) = streams else {
        return Err(broken(io::ErrorKind::BrokenPipe.into()));
    };
    let writing = async move {
        // A program may answer without reading all of it.
        let _ = stdin.write_all(&input).await;
        drop(stdin);
    };
    let (mut output, mut errors) = (Kept::new(MAX_OUTPUT), Kept::new(MAX_ERRORS));
    let id = group.id;
    let status = {
        let mut streams = pin!(async {
            let ((), output, errors) =
                tokio::join!(writing, output.read(stdout, id), errors.read(stderr, None));
            output.and(errors)
        });
        tokio::select! {
            read = &mut streams => read.map_err(broken)?,
            end = group.end() => {
                end.map_err(broken)?;
                match timeout(PIPES, &mut streams).await {
                    Ok(read) => read.map_err(broken)?,
                    // Something that it started holds them.
                    Err(_) => kill(id),
                }
            }
        }
        group.child.wait().await.map_err(broken)?
    };
    group.id = None;
    if output.cut {
        let message = format!("Claude Code wrote more than {MAX_OUTPUT} bytes");
        return Err(SkillError::retryable("llm_failed", message).into());
    }
    Ok(Finished {
        status,
        output: output.bytes,
        errors: errors.bytes,
    })
}

/// An empty directory that only this user can look into.
fn directory() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("skill-llm-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir()
}

/// What was read of a stream. It is there also when the stream was not read to its end.
struct Kept {
    bytes: Vec<u8>,
    limit: u64,
    /// Whether there was more than is kept.
    cut: bool,
}

impl Kept {
    fn new(limit: u64) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            cut: false,
        }
    }

    /// Reads a stream to its end. A program that writes more than allowed is killed when its group is given.
    async fn read(&mut self, mut stream: impl AsyncRead + Unpin, group: Option<u32>) -> io::Result<()> {
        (&mut stream)
            .take(self.limit)
            .read_to_end(&mut self.bytes)
            .await?;
        let mut rest = [0; 4096];
        while stream.read(&mut rest).await? > 0 {
            if !self.cut {
                kill(group);
            }
            self.cut = true;
        }
        Ok(())
    }
}

/// A child and what it started, apart from what left its group, until it ended by itself.
struct Group {
    child: Child,
    /// The id of the group, which is that of the child, as long as nobody waited for the child: until then the system gives
    /// it to no other.
    id: Option<u32>,
}

impl Group {
    fn of(child: Child) -> Self {
        let id = child.id();
        Self { child, id }
    }

    /// Waits for the child to end, and leaves it unburied: its id stays that of its group.
    #[cfg(unix)]
    async fn end(&mut self) -> io::Result<()> {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        use tokio::signal::unix::{SignalKind, signal};

        let id = self.id.and_then(|id| i32::try_from(id).ok());
        let Some(id) = id.and_then(Pid::from_raw) else {
            return Ok(());
        };
        // Before the first look, so that an end after it is not missed.
        let mut ends = signal(SignalKind::child())?;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        while waitid(WaitId::Pid(id), look)?.is_none() {
            ends.recv().await;
        }
        Ok(())
    }

    /// There are no groups.
    #[cfg(not(unix))]
    async fn end(&mut self) -> io::Result<()> {
        self.child.wait().await.map(drop)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        kill(self.id);
    }
}

#[cfg(unix)]
fn kill(group: Option<u32>) {
    use rustix::process::{Pid, Signal, kill_process_group};

    let id = group
        .and_then(|id| i32::try_from(id).ok())
        .and_then(Pid::from_raw);
    if let Some(id) = id {
        // A group that ended by itself is what is wanted.
        let _ = kill_process_group(id, Signal::KILL);
    }
}

/// The child itself is killed when it is dropped; there are no groups.
#[cfg(not(unix))]
fn kill(_group: Option<u32>) {}

fn not_started(why: &str, error: io::Error) -> ChatError {
    let message = format!("Claude Code did not start: {why}");
    SkillError::retryable("llm_unavailable", message)
        .with_source(error)
        .into()
}

fn broken(error: io::Error) -> ChatError {
    SkillError::retryable("llm_failed", "the connection to Claude Code broke")
        .with_source(error)
        .into()
}
