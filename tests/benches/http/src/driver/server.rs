//! A server process: starting it, and its CPU time and memory.

use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use skill_sdk_bench_http::start::CORE;

use super::issuer::Issuer;
use super::plan::Program;

/// A running server. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    /// `host:port`.
    pub(crate) address: String,
}

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Memory {
    /// The current resident memory.
    pub(crate) now: u64,
    /// The peak resident memory.
    pub(crate) peak: u64,
}

/// The cores that this process may use.
pub(crate) fn cores() -> Vec<usize> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else {
        return Vec::new();
    };
    (0..1024).filter(|core| set.is_set(*core)).collect()
}

/// The path of a program: it lies beside this one.
pub(crate) fn path_of(binary: &str) -> io::Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(binary);
    if path.exists() {
        return Ok(path);
    }
    Err(io::Error::other(format!(
        "{} is missing: build all programs with `cargo build --release -p skill-sdk-bench-http`",
        path.display()
    )))
}

impl Server {
    /// Starts a program and waits until it prints its address.
    pub(crate) fn start(program: Program, core: Option<usize>, issuer: &Issuer) -> io::Result<Self> {
        let mut command = Command::new(path_of(program.binary)?);
        command
            .args(program.arguments)
            .envs(issuer.variables())
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(core) = core {
            command.env(CORE, core.to_string());
        }
        let mut child = command.spawn()?;
        let missing = || io::Error::other(format!("{} did not say where it listens", program.binary));
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let mut server = Self {
            child,
            address: String::new(),
        };
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            if let Some(address) = line.strip_prefix("listening on http://") {
                address.clone_into(&mut server.address);
                return Ok(server);
            }
        }
        Err(missing())
    }

    fn proc(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{file}", self.child.id()))
    }

    /// The CPU time of all its threads, in nanoseconds.
    pub(crate) fn cpu(&self) -> io::Result<u64> {
        let mut sum = 0;
        for thread in fs::read_dir(self.proc("task"))? {
            let text = fs::read_to_string(thread?.path().join("schedstat"))?;
            let time = text.split(' ').next().and_then(|time| time.parse::<u64>().ok());
            sum += time.ok_or_else(|| io::Error::other("the system does not report CPU time"))?;
        }
        Ok(sum)
    }

    /// Its memory; `None` if the system does not report it.
    pub(crate) fn memory(&self) -> Memory {
        let text = fs::read_to_string(self.proc("status")).unwrap_or_default();
        let field = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
            Some(kilobytes * 1024)
        };
        Memory {
            now: field("VmRSS:").unwrap_or_default(),
            peak: field("VmHWM:").unwrap_or_default(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have exited already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
