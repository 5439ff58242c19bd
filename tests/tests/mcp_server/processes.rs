//! The host as a process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};
use skill_sdk_tests::program;

use super::client::{PATIENCE, call, failed, modern, request};

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

/// A host in a process of its own.
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
        let mut meta = modern();
        meta["progressToken"] = "p".into();
        self.send(&call(id, tool, arguments, &meta));
    }

    fn send(&mut self, message: &str) {
        let line = message.to_owned() + "\n";
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn take(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("a line comes in time");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line} is no message"))
    }

    fn signal(&self, signal: &str) {
        program::signal(self.child.id(), signal);
    }

    /// Waits for the end.
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
fn standard_output_is_the_protocols_alone() {
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
            "there is nothing else"
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
    assert_eq!(failed(&process.take()).0, "skill_not_hosted");
    process.call(2, "proc.answer", &json!({"text": "a"}));
    assert_eq!(process.take()["result"]["structuredContent"]["result"], "a");
}

#[test]
fn a_signal_drains_and_a_second_one_ends_at_once() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let mut process = Process::start(&["serve", "mcp-stdio"]);
        process.call(1, "proc.hang", &json!({}));
        assert_eq!(process.take()["params"]["message"], "hanging");
        process.signal(signal);
        // The first signal is heard once calls are refused.
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
fn questions_that_are_put_at_once_come_at_once() {
    let mut process = Process::start(&["serve", "mcp-stdio"]);
    let mut meta = modern();
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
fn the_time_for_running_calls_is_bounded() {
    for tool in ["proc.hang", "proc.spin"] {
        let mut process = Process::start(&["serve", "mcp-stdio", "--drain-seconds", "0"]);
        process.call(1, tool, &json!({}));
        assert_eq!(process.take()["method"], "notifications/progress");
        drop(process.input.take());
        assert_eq!(failed(&process.take()).0, "overloaded", "{tool}");
        assert_eq!(process.wait().0.code(), Some(0));
    }
}

#[test]
fn a_port_is_told_in_one_line() {
    let mut process = Process::start(&["serve", "mcp-http", "--port", "0", "--allow-anonymous"]);
    // Standard output is no protocol here, so what types print when they are described comes first.
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
fn wrong_configurations_are_refused() {
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

/// Whether a process is there and not only remembered by its parent.
#[cfg(target_os = "linux")]
fn lives(id: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
        !state.starts_with(['Z', 'X'])
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_parent_leaves_no_orphan() {
    for request in ["", "--drain-seconds 1000"] {
        for tool in ["proc.hang", "proc.spin"] {
            let mut meta = modern();
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
            assert!(lives(id));
            parent.kill().unwrap();
            parent.wait().unwrap();
            let start = std::time::Instant::now();
            while lives(id) {
                assert!(start.elapsed() < PATIENCE, "{request} {tool}: {id} lives on");
                thread::park_timeout(std::time::Duration::from_millis(5));
            }
        }
    }
}
