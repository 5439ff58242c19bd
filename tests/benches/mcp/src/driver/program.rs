//! The programs that are called.

use std::io;
use std::process::{Child, Command, Stdio};

use skill_sdk_bench_mcp::CORE;

/// A running program. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Program(pub(crate) Child);

/// The cores that this process may use.
pub(crate) fn cores() -> Vec<usize> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else {
        return Vec::new();
    };
    (0..1024).filter(|core| set.is_set(*core)).collect()
}

impl Program {
    /// Starts a program beside this one, pinned to a core or not.
    pub(crate) fn start(binary: &str, how: &str, core: Option<usize>) -> io::Result<Self> {
        let path = std::env::current_exe()?.with_file_name(binary);
        if !path.exists() {
            return Err(io::Error::other(format!(
                "{} is missing: build all programs with `cargo build --release -p skill-sdk-bench-mcp`",
                path.display()
            )));
        }
        let mut command = Command::new(path);
        command
            .arg(how)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(core) = core {
            command.env(CORE, core.to_string());
        }
        command.spawn().map(Self)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have exited already.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A pipe of the program is missing.
pub(crate) fn missing_pipe() -> io::Error {
    io::Error::other("the program was started without this pipe")
}
