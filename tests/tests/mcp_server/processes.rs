//! The server as a process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};
use skill_sdk_tests::program;

use super::client::{PATIENCE, call, request, stateless_meta, tool_failure};

const PROGRAM: &str = env!("CARGO_BIN_EXE_local-skills");

fn lines(output: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            if sender.send(line.unwrap()).is_err() {
                return;
            }
        }
    });
    lines
}

/// A server in a process of its own.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Receiver<String>,
}

impl Process {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(PROGRAM)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            lines: lines(child.stdout.take().unwrap()),
            errors: lines(child.stderr.take().unwrap()),
            child,
        }
    }

    fn call(&mut self, id: u64, tool: &str, arguments: &Value) {
        let mut meta = stateless_meta();
        meta["progressToken"] = "p".into();
        self.send(&call(id, tool, arguments, &meta));
    }

    fn send(&mut self, message: &str) {
        let line = message.to_owned() + "\n";
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn take(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("a line arrives in time");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line} is no message"))
    }

    fn signal(&self, signal: &str) {
        program::signal(self.child.id(), signal);
    }

    /// Waits for the process to exit.
    fn wait(mut self) -> (ExitStatus, Vec<String>) {
        let (sender, ended) = channel();
        thread::spawn(move || sender.send(self.child.wait()));
        let status = ended
            .recv_timeout(PATIENCE)
            .expect("the process ends in time")
            .unwrap();
        (status, self.errors.iter().collect())
    }
}

#[test]
fn standard_output_contains_only_the_protocol() {
    for arguments in [
        &["serve", "mcp-stdio"][..],
        &["serve", "mcp-stdio", "proc.print@1", "proc.read"],
    ] {
        let mut process = Process::start(arguments);
        process.call(1, "proc.print", &json!({}));
        assert_eq!(
            process.take()["result"]["structuredContent"],
            json!({"result": "Ok(true)"})
        );
        process.call(2, "proc.read", &json!({}));
        assert_eq!(process.take()["result"]["structuredContent"]["result"], 0);
        drop(process.input.take());
        assert!(
            process.lines.recv_timeout(PATIENCE).is_err(),
            "the output contains nothing else"
        );
        let (status, errors) = process.wait();
        assert_eq!(status.code(), Some(0));
        for printed in ["printed", "from a child", "forged"] {
            assert!(
                errors.iter().any(|line| line.contains(printed)),
                "{printed}: {errors:?}"
            );
        }
    }
}

#[test]
fn only_the_named_skills_are_tools() {
    let mut process = Process::start(&["serve", "mcp-stdio", "proc.answer"]);
    process.call(1, "proc.print", &json!({}));
    assert_eq!(tool_failure(&process.take()).0, "skill_not_hosted");
    process.call(2, "proc.answer", &json!({"text": "a"}));
    assert_eq!(process.take()["result"]["structuredContent"]["result"], "a");
}

#[test]
fn the_second_signal_stops_at_once() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let mut process = Process::start(&["serve", "mcp-stdio"]);
        process.call(1, "proc.hang", &json!({}));
        assert_eq!(process.take()["params"]["message"], "hanging");
        process.signal(signal);
        // The first signal has taken effect once calls are rejected.
        loop {
            process.call(2, "proc.answer", &json!({"text": "a"}));
            if process.take()["result"]["isError"] == true {
                break;
            }
        }
        process.signal(signal);
        assert_eq!(process.wait().0.code(), Some(code));
    }
}

#[test]
fn concurrent_elicitations_are_sent_at_once() {
    let mut process = Process::start(&["serve", "mcp-stdio"]);
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    for id in 0..40 {
        process.send(&call(id, "proc.ask", &json!({}), &meta));
        let asked = process.take();
        let questions = asked["result"]["inputRequests"].as_object().unwrap();
        assert_eq!(questions.len(), 2, "{asked}");
        let state = &asked["result"]["requestState"];
        let answer = |name| json!({"action": "accept", "content": {"name": name}});
        let params = json!({
            "name": "proc.ask", "arguments": {}, "_meta": meta, "requestState": state,
            "inputResponses": {"first": answer("Ada"), "second": answer("Bob")},
        });
        process.send(&request(id, "tools/call", &params));
        assert_eq!(process.take()["result"]["structuredContent"]["result"], "Ada Bob");
    }
}

#[test]
fn the_drain_timeout_applies() {
    for tool in ["proc.hang", "proc.spin"] {
        let mut process = Process::start(&["serve", "mcp-stdio", "--drain-seconds", "0"]);
        process.call(1, tool, &json!({}));
        assert_eq!(process.take()["method"], "notifications/progress");
        drop(process.input.take());
        assert_eq!(tool_failure(&process.take()).0, "overloaded", "{tool}");
        assert_eq!(process.wait().0.code(), Some(0));
    }
}

#[test]
fn the_address_is_printed_in_one_line() {
    let mut process = Process::start(&["serve", "mcp-http", "--port", "0", "--allow-anonymous"]);
    // Standard output is not part of the protocol here, so types may print while they are described.
    let told = |line: &String| line.starts_with("listening on ");
    let line = std::iter::from_fn(|| process.lines.recv_timeout(PATIENCE).ok()).find(told);
    let line = line.unwrap();
    let url = line.strip_prefix("listening on http://127.0.0.1:").unwrap();
    assert!(url.ends_with("/mcp") && !url.starts_with("0/"), "{line}");
    process.signal("TERM");
    assert!(process.lines.recv_timeout(PATIENCE).is_err());
    drop(process.input.take());
    assert_eq!(process.wait().0.code(), Some(0));
}

#[test]
fn invalid_configurations_are_rejected() {
    for (arguments, says) in [
        (&["serve", "mcp-http", "--port", "0"][..], "SKILL_SDK_IAM_ISSUER"),
        (
            &["serve", "mcp-http", "--allow-anonymous", "--host", "0.0.0.0"],
            "0.0.0.0",
        ),
        (
            &["serve", "mcp-http", "--allow-anonymous", "--public-url", "x"],
            "public URL",
        ),
        (
            &["serve", "mcp-http", "--allow-anonymous", "--allowed-host", "a/b"],
            "a/b",
        ),
        (
            &["serve", "mcp-http", "--allow-anonymous", "--allowed-origin", "a"],
            "SCHEME://NAME",
        ),
        (&["serve", "mcp-stdio", "--concurrency", "0"], "0 is not in 1.."),
        (&["serve", "mcp-stdio", "--message-limit", "0"], "0 is not in 1.."),
        (&["serve", "mcp-stdio", "proc.unknown"], "proc.unknown"),
    ] {
        let (status, errors) = Process::start(arguments).wait();
        assert_eq!(status.code(), Some(2), "{arguments:?}");
        assert!(
            errors.iter().any(|line| line.contains(says)),
            "{arguments:?}: {errors:?}"
        );
    }
}

/// Whether a process is running, as opposed to a zombie.
#[cfg(target_os = "linux")]
fn is_running(id: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
        !state.starts_with(['Z', 'X'])
    })
}

#[cfg(target_os = "linux")]
#[test]
fn the_server_ends_with_its_parent() {
    for request in ["", "--drain-seconds 1000"] {
        for tool in ["proc.hang", "proc.spin"] {
            let mut meta = stateless_meta();
            meta["progressToken"] = "p".into();
            let line = call(1, tool, &json!({}), &meta);
            let mut parent = Command::new(PROGRAM)
                .args(["mcp-parent", request, &line])
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let mut id = String::new();
            BufReader::new(parent.stdout.take().unwrap())
                .read_line(&mut id)
                .unwrap();
            let id = id.trim();
            assert!(is_running(id));
            parent.kill().unwrap();
            parent.wait().unwrap();
            let start = std::time::Instant::now();
            while is_running(id) {
                assert!(
                    start.elapsed() < PATIENCE,
                    "{request} {tool}: {id} is still running"
                );
                thread::park_timeout(std::time::Duration::from_millis(5));
            }
        }
    }
}
