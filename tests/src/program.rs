//! A server in a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};

/// A server over HTTP in a process of its own. Dropping it kills the process.
#[derive(Debug)]
pub struct Program {
    /// The address it listens on.
    pub address: SocketAddr,
    /// Its management port, when the arguments have `--ops-addr`.
    pub ops: Option<SocketAddr>,
    child: Child,
    stdout: JoinHandle<String>,
    stderr: JoinHandle<String>,
}

/// The result of a process that ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit status.
    pub status: ExitStatus,
    /// Everything it wrote to standard output.
    pub stdout: String,
    /// Everything it wrote to standard error.
    pub stderr: String,
}

impl Program {
    /// Starts `binary` with these arguments and environment variables, and no others that a server reads.
    pub fn serve(binary: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = command(binary, arguments, variables)
            .spawn()
            .expect("the program starts");
        let stderr = read_all(child.stderr.take().expect("it is piped"));
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut text = String::new();
        let mut address = |prefix: &str| {
            let start = text.len();
            stdout.read_line(&mut text).expect("it prints its address");
            text[start..].trim().strip_prefix(prefix)?.parse().ok()
        };
        let listening = address("listening on http://");
        let has_ops = listening.is_some() && arguments.contains(&"--ops-addr");
        let ops = has_ops.then(|| address("management port on http://")).flatten();
        let Some(address) = listening.filter(|_| ops.is_some() == has_ops) else {
            let ended = stderr.join().expect("it is read");
            unusable(&text, &ended)
        };
        let stdout = read_rest(text, stdout);
        Self {
            address,
            ops,
            child,
            stdout,
            stderr,
        }
    }

    /// The resident memory in bytes, from `/proc`.
    #[cfg(target_os = "linux")]
    pub fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<usize>().ok());
        kib.expect("the system tells") * 1024
    }

    /// Sends a signal, such as `TERM`.
    pub fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// Waits for the process to exit.
    pub fn ended(mut self) -> Ended {
        let status = self.child.wait().expect("it is a child");
        let empty = || thread::spawn(String::new);
        let stdout = std::mem::replace(&mut self.stdout, empty());
        let stderr = std::mem::replace(&mut self.stderr, empty());
        Ended {
            status,
            stdout: stdout.join().expect("it is read"),
            stderr: stderr.join().expect("it is read"),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal, such as `TERM`, to a process.
pub fn signal(process: u32, name: &str) {
    // `kill` is a shell builtin; some systems have no program of that name.
    let sent = Command::new("sh")
        .args(["-c", "kill -s \"$0\" \"$1\"", name, &process.to_string()])
        .status();
    assert!(sent.expect("there is `sh`").success(), "{name} reaches {process}");
}

/// Runs `binary` to its end.
pub fn run(binary: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let output = command(binary, arguments, variables)
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("it writes text");
    Ended {
        status: output.status,
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

fn command(binary: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(binary);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for (name, _) in std::env::vars_os() {
        let name_ = name.to_string_lossy();
        if ["OTEL_", "SKILL_SDK_", "RUST_LOG"]
            .iter()
            .any(|start| name_.starts_with(start))
        {
            command.env_remove(&name);
        }
    }
    command.envs(variables.iter().copied());
    command
}

fn read_all(mut stderr: ChildStderr) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        let _ = stderr.read_to_string(&mut text);
        text
    })
}

fn read_rest(line: String, mut stdout: BufReader<ChildStdout>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = line;
        let _ = stdout.read_to_string(&mut text);
        text
    })
}

#[expect(clippy::panic, reason = "a program that does not start is a failed test")]
fn unusable(line: &str, stderr: &str) -> ! {
    panic!("the program does not start a server: {line}{stderr}")
}
