//! Hosting for an executor on the same machine, without a port: lines of JSON over pipes or a Unix socket.
//!
//! A line `{"id", "skill", "inputs", "meta"}` calls a skill and is answered with `{"id", "outputs", "cost"}` or
//! `{"id", "error"}`, in between with `{"id", "progress"}`. Calls run at the same time, and answers come as they finish.
//! `{"cancel": id}` stops a call, `{"list": true}` asks for the contracts. A line that is none of these is answered with the
//! code `bad_request`.
//!
//! - [`serve`] serves one client over a pair of streams,
//!   [`serve_socket`] any number of them over a Unix socket
//! - `request` reads lines, `answer` writes them, `output` bounds what waits
//! - `connection` runs the calls of one client, `calls` are those without an answer yet, `watch` looks after threads that
//!   a call keeps

mod answer;
mod calls;
mod connection;
mod hosted;
mod output;
mod request;
mod serve;
mod shared;
#[cfg(unix)]
mod socket;
mod watch;

use std::fmt;
use std::time::Duration;

pub use self::serve::serve;
pub(crate) use self::serve::{nobody_reads, serve_watched};
#[cfg(unix)]
pub use self::socket::{SocketError, serve_socket};
use crate::context::Environment;
use crate::pipeline::SkillSet;

/// The longest line that is read by default, in bytes: 4 MiB.
pub const DEFAULT_LINE_LIMIT: usize = 4 * 1024 * 1024;

/// How many calls run at the same time by default.
pub const DEFAULT_CONCURRENCY: usize = 256;

/// How long running calls may take by default once the input ended or the host is told to stop.
pub const DEFAULT_DRAIN: Duration = Duration::from_secs(30);

/// Skills to host for callers on the same machine, and the limits.
#[derive(Clone)]
pub struct LocalServer {
    host: SkillSet,
    line_limit: usize,
    concurrency: usize,
    drain: Duration,
    environment: Environment,
}

impl LocalServer {
    /// Hosts `host` with the default limits.
    pub fn new(host: SkillSet) -> Self {
        Self {
            host,
            line_limit: DEFAULT_LINE_LIMIT,
            concurrency: DEFAULT_CONCURRENCY,
            drain: DEFAULT_DRAIN,
            environment: Environment::process(),
        }
    }

    /// Sets the longest line that is read, in bytes; longer ones are refused with the code `payload_too_large`.
    #[must_use]
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.line_limit = bytes;
        self
    }

    /// Sets how many calls may run at the same time, of all clients together; those above it are refused with the
    /// retryable code `overloaded`.
    #[must_use]
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls;
        self
    }

    /// Sets how long running calls may take once the input ended or the host is told to stop; those that take longer are
    /// answered with the retryable code `cancelled`.
    #[must_use]
    pub fn drain(mut self, time: Duration) -> Self {
        self.drain = time;
        self
    }

    /// Sets what configuration and secrets are read from, in place of the environment of the process.
    #[must_use]
    pub fn environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// The skills.
    pub fn host(&self) -> &SkillSet {
        &self.host
    }
}

impl fmt::Debug for LocalServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalServer")
            .field("skills", &self.host.iter().len())
            .field("line_limit", &self.line_limit)
            .field("concurrency", &self.concurrency)
            .field("drain", &self.drain)
            .finish_non_exhaustive()
    }
}
