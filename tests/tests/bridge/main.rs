//! The Python bridge, called by an executor that imports Python modules and knows nothing of Rust.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]

mod calls;
mod files;
#[cfg(target_os = "linux")]
mod shutdown;

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

const TOOL: &str = env!("CARGO_BIN_EXE_bridge-tool");
const PROGRAM: &str = env!("CARGO_BIN_EXE_local-skills");
const EXECUTOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/oracles/executor.py");

/// The path of Python 3.11 or newer. `None`, with a message, if it is not installed.
fn python() -> Option<OsString> {
    let named = std::env::var_os("SKILL_SDK_TEST_PYTHON");
    let python = named.clone().unwrap_or_else(|| "python3".into());
    let check = "import sys; sys.exit(sys.version_info < (3, 11))";
    let found = Command::new(&python)
        .args(["-c", check])
        .status()
        .is_ok_and(|status| status.success());
    assert!(
        found || named.is_none(),
        "SKILL_SDK_TEST_PYTHON names Python 3.11 or newer"
    );
    if !found {
        eprintln!("skipped: Python 3.11 or newer is not installed");
    }
    found.then_some(python)
}

/// A package in a temporary directory, and the executor that imports it.
struct Bridge {
    python: OsString,
    directory: TempDir,
}

impl Bridge {
    fn new(arguments: &[&str]) -> Option<Self> {
        let bridge = Self {
            python: python()?,
            directory: tempfile::tempdir().unwrap(),
        };
        let output = bridge.write(arguments);
        assert!(output.status.success(), "{output:?}");
        Some(bridge)
    }

    fn out(&self) -> &Path {
        self.directory.path()
    }

    fn write(&self, arguments: &[&str]) -> Output {
        Command::new(TOOL)
            .args(["bridge", "python", "--out"])
            .arg(self.out())
            .arg(PROGRAM)
            .args(arguments)
            .output()
            .unwrap()
    }

    fn program(&self) -> PathBuf {
        self.out().join("local_skills/_skill_sdk/skills")
    }

    fn executor(&self, arguments: &[&str]) -> Command {
        let mut command = self.interpreter();
        command.arg(EXECUTOR).args(arguments);
        command
    }

    /// Python with the modules on its path.
    fn interpreter(&self) -> Command {
        let mut command = Command::new(&self.python);
        command
            .env("PYTHONPATH", self.out())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("CONTROL_PLANE_SKILLS_LOCAL_PACKAGES", "local_skills")
            .env_remove("SKILL_SDK_BRIDGE_PROGRAM")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs calls and returns their responses.
    fn run(&self, calls: &[Value]) -> Vec<Value> {
        Self::run_by(self.executor(&["run"]), calls)
    }

    fn run_by(mut executor: Command, calls: &[Value]) -> Vec<Value> {
        let mut child = executor.spawn().unwrap();
        let lines: String = calls.iter().map(|call| format!("{call}\n")).collect();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let answers: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(
            answers.len(),
            calls.len(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        answers
    }

    /// The process ids that run the program of this bridge.
    fn running(&self) -> Vec<PathBuf> {
        let program = self.program().canonicalize().unwrap();
        fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .filter(|process| fs::read_link(process.join("exe")).is_ok_and(|exe| exe == program))
            .collect()
    }
}

fn call(reference: &str, inputs: &Value) -> Value {
    json!({"ref": reference, "inputs": inputs})
}

fn failed(code: &str, message: &str, retryable: bool, details: &Value) -> Value {
    json!({"failure": {"code": code, "message": message, "retryable": retryable, "details": details}})
}
