//! The local server: newline-delimited JSON (NDJSON) over pipes or a Unix socket, for callers on the same machine.
//!
//! A line `{"id", "skill", "inputs", "meta"}` calls a skill. Its response is `{"id", "outputs", "cost"}` or
//! `{"id", "error"}`; lines with `{"id", "progress"}` may come before it. Calls run concurrently, and responses come as calls
//! finish. `{"cancel": id}` cancels a call, `{"list": true}` asks for the contracts. Any other line gets an error with the code
//! `bad_request`.
//!
//! - [`serve`] serves one client over a pair of streams, [`serve_socket`] many clients over a Unix socket
//! - `message` defines the lines, `client` is what they ask for
//!
//! ```standalone_crate
//! use std::time::Duration;
//!
//! use skill_sdk::local::{LocalServer, serve};
//! use skill_sdk::pipeline::SkillSet;
//! use skill_sdk::skill;
//! use tokio::io::AsyncReadExt;
//!
//! /// Double a number.
//! #[skill("number.double", version = "1", side_effects = "none", risk = "low")]
//! fn double(number: i32) -> i32 {
//!     number * 2
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = LocalServer::new(SkillSet::collect()?).concurrency(8).drain(Duration::from_secs(5));
//! let line = br#"{"id": 1, "skill": "number.double@1", "inputs": {"number": 2}}"#;
//! let (output, mut client) = tokio::io::duplex(4096); // bytes
//! tokio::runtime::Runtime::new()?.block_on(async {
//!     serve(server, &line[..], output, std::future::pending()).await?;
//!     let mut responses = String::new();
//!     client.read_to_string(&mut responses).await?;
//!     assert!(responses.contains(r#""outputs":{"result":4}"#), "{responses}");
//!     Ok(())
//! })
//! # }
//! ```
//!
//! Guide: `docs/guides/without-the-cli.md`. Reference: `docs/reference/local.md`.

mod client;
mod message;
#[cfg(unix)]
mod socket;

use std::fmt;
use std::future::{Future, pending};
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use self::client::Client;
#[cfg(unix)]
pub use self::socket::serve_socket;
use crate::context::Environment;
use crate::pipe::{PipeLimits, serve_pipe};
use crate::pipeline::SkillSet;
use crate::serve::Service;

/// The longest line that is read by default, in bytes: 4 MiB.
const DEFAULT_LINE_LIMIT: usize = 4 * 1024 * 1024;

/// How many calls run at the same time by default.
const DEFAULT_CONCURRENCY: usize = 256;

/// How long running calls may take by default after the end of the input or a stop signal.
const DEFAULT_DRAIN: Duration = Duration::from_secs(30);

/// The least number of bytes that the inputs of calls may take before no more lines are read.
const MIN_MEMORY: usize = 4 * 1024 * 1024;

/// Skills to serve for callers on the same machine, and the limits.
#[derive(Clone)]
pub struct LocalServer {
    skills: SkillSet,
    line_limit: usize,
    concurrency: usize,
    drain: Duration,
    environment: Environment,
}

impl LocalServer {
    /// Serves `skills` with the default limits.
    pub fn new(skills: SkillSet) -> Self {
        Self {
            skills,
            line_limit: DEFAULT_LINE_LIMIT,
            concurrency: DEFAULT_CONCURRENCY,
            drain: DEFAULT_DRAIN,
            environment: Environment::process(),
        }
    }

    /// Sets the longest line that is read, in bytes. Longer lines are rejected with the code `bad_request`. The default is 4 MiB.
    #[must_use]
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Sets how many calls may run at the same time, of all clients together. Further calls wait. The default is 256.
    #[must_use]
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls;
        self
    }

    /// Sets how long running calls may take after the end of the input or a stop signal. Calls that take longer get the
    /// retryable code `cancelled`. The default is 30 s.
    #[must_use]
    pub fn drain(mut self, time: Duration) -> Self {
        self.drain = time;
        self
    }

    /// Sets what configuration and secrets are read from. The default is the environment of the process.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// The service that all clients share.
    fn service(&self) -> Service {
        Service::of_pipes(self.skills.clone(), self.concurrency, self.environment.clone())
    }
}

impl fmt::Debug for LocalServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalServer")
            .field("skills", &self.skills.iter().len())
            .field("line_limit", &self.line_limit)
            .field("concurrency", &self.concurrency)
            .field("drain", &self.drain)
            .finish_non_exhaustive()
    }
}

/// Serves one client until its input ends or `stop` resolves, then lets running calls finish within the drain timeout.
///
/// When the client closes its end of `output`, its calls are cancelled. Skills run on the current tokio runtime, which must
/// be a multi-thread runtime with its clock enabled.
///
/// ```no_run
/// use skill_sdk::host::stdio;
/// use skill_sdk::local::{LocalServer, serve};
/// use skill_sdk::pipeline::SkillSet;
/// use tokio::fs::File;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let protocol = stdio::take()?;
/// let (input, output) = (File::from_std(protocol.input), File::from_std(protocol.output));
/// serve(LocalServer::new(SkillSet::collect()?), input, output, std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// `input` cannot be read. An `output` that cannot be written counts as a client that disconnected.
pub async fn serve(
    server: LocalServer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    serve_until_gone(server, input, output, stop, pending()).await
}

/// [`serve`] for a client whose end can be seen: once the input ended or `stop` resolved, `gone` resolves when no one reads
/// the output any more.
pub(crate) async fn serve_until_gone(
    server: LocalServer,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
    gone: impl Future<Output = ()>,
) -> io::Result<()> {
    let service = server.service();
    serve_client(server, service, input, output, stop, gone).await
}

/// Serves one client of a service that several may share.
async fn serve_client(
    server: LocalServer,
    service: Service,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
    gone: impl Future<Output = ()>,
) -> io::Result<()> {
    let limits = PipeLimits {
        drain: server.drain,
        max_line: server.line_limit,
        // A call of the longest line always has room.
        max_memory: server.line_limit.max(MIN_MEMORY),
    };
    let client = |pipe| Client {
        server,
        service,
        pipe,
    };
    serve_pipe(client, limits, input, output, stop, gone).await
}
