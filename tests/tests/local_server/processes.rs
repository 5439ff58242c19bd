//! The server as a process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skill_sdk_tests::program;

use super::client::{PATIENCE, call, lines};

const PROGRAM: &str = env!("CARGO_BIN_EXE_local-skills");

/// A server in a process of its own.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Receiver<String>,
}

impl Process {
    fn start(arguments: &[&str]) -> Self {
        Self::start_by(Command::new(PROGRAM).args(arguments))
    }

    fn start_by(command: &mut Command) -> Self {
        let mut child = command
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

    fn call(&mut self, id: u64, skill: &str, inputs: &Value) {
        let line = call(id, skill, inputs, &Value::Null) + "\n";
        self.input.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn take(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| {
            let errors: Vec<String> = self.errors.try_iter().collect();
            panic!("no line comes in time ({error}): {errors:?}")
        });
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line} is not a line of the protocol"))
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
        &["serve", "local"][..],
        &["serve", "local", "proc.print@1", "proc.read@1", "proc.loud@1"],
        &["serve", "local", "proc.print@1", "proc.read", "proc.loud"],
    ] {
        let mut process = Process::start(arguments);
        process.call(1, "proc.print@1", &json!({}));
        assert_eq!(
            process.take(),
            json!({"id": 1, "outputs": {"result": "Ok(true)"}, "cost": null})
        );
        process.call(2, "proc.read@1", &json!({}));
        assert_eq!(process.take()["outputs"]["result"], 0);
        drop(process.input.take());
        assert!(
            process.lines.recv_timeout(PATIENCE).is_err(),
            "the output contains nothing else"
        );
        let (status, errors) = process.wait();
        assert_eq!(status.code(), Some(0));
        for printed in ["printed", "from a child", "forged", "printed by a schema"] {
            assert!(
                errors.iter().any(|line| line.contains(printed)),
                "{printed}: {errors:?}"
            );
        }
    }
}

#[test]
fn only_the_named_skills_are_hosted() {
    let mut process = Process::start(&["serve", "local", "proc.answer"]);
    process.call(1, "proc.print@1", &json!({}));
    assert_eq!(process.take()["error"]["code"], "skill_not_hosted");
    process.call(2, "proc.answer@1", &json!({"text": "a"}));
    assert_eq!(process.take()["outputs"]["result"], "a");
    let (status, errors) = Process::start(&["serve", "local", "proc.unknown"]).wait();
    assert_eq!(status.code(), Some(2));
    assert!(
        errors.iter().any(|line| line.contains("proc.unknown")),
        "{errors:?}"
    );
}

#[test]
fn the_second_signal_stops_at_once() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let mut process = Process::start(&["serve", "local"]);
        process.call(1, "proc.hang@1", &json!({}));
        assert_eq!(process.take()["progress"]["message"], "hanging");
        process.signal(signal);
        // The first signal has taken effect once calls are rejected.
        loop {
            process.call(2, "proc.answer@1", &json!({"text": "a"}));
            if process.take()["error"]["code"] == "overloaded" {
                break;
            }
        }
        process.signal(signal);
        assert_eq!(process.wait().0.code(), Some(code));

        let mut process = Process::start(&["serve", "local"]);
        process.call(1, "proc.answer@1", &json!({"text": "a"}));
        process.take();
        process.signal(signal);
        let input = process.input.take();
        assert_eq!(process.wait().0.code(), Some(0));
        drop(input);
    }
}

#[test]
fn the_drain_timeout_applies() {
    for skill in ["proc.hang@1", "proc.spin@1"] {
        let mut process = Process::start(&["serve", "local", "--drain-seconds", "0"]);
        process.call(1, skill, &json!({}));
        assert!(process.take()["progress"].is_object());
        drop(process.input.take());
        assert_eq!(process.take()["error"]["code"], "cancelled", "{skill}");
        assert_eq!(process.wait().0.code(), Some(0));
    }
}

/// Whether a process is running, as opposed to a zombie.
#[cfg(target_os = "linux")]
fn is_running(id: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| {
        !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .starts_with(['Z', 'X'])
    })
}

#[cfg(target_os = "linux")]
#[test]
fn the_server_ends_with_its_parent() {
    for request in ["", "--parent $PID", "--drain-seconds 1000 --parent $PID"] {
        for skill in ["proc.hang@1", "proc.spin@1"] {
            let line = call(1, skill, &json!({}), &Value::Null);
            let mut parent = Command::new(PROGRAM)
                .args(["parent", request, &line])
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
            let start = Instant::now();
            while is_running(id) {
                assert!(
                    start.elapsed() < PATIENCE,
                    "{request} {skill}: {id} is still running"
                );
                thread::park_timeout(Duration::from_millis(5));
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn child_processes_end_with_a_server_that_follows_its_parent() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("numbers");
    let inputs = json!({"file": file, "then": "hang"});
    let line = call(1, "proc.family@1", &inputs, &Value::Null);
    // The server ends with its parent, even with a long drain timeout.
    let mut parent = Command::new(PROGRAM)
        .args(["parent", "--drain-seconds 1000 --parent $PID", &line])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut host = String::new();
    BufReader::new(parent.stdout.take().unwrap())
        .read_line(&mut host)
        .unwrap();
    let numbers = std::fs::read_to_string(&file).unwrap();
    let all: Vec<&str> = numbers.split_whitespace().chain([host.trim()]).collect();
    assert!(all.len() == 3 && all.iter().all(|id| is_running(id)), "{all:?}");
    parent.kill().unwrap();
    parent.wait().unwrap();
    let start = Instant::now();
    while let Some(id) = all.iter().find(|id| is_running(id)) {
        assert!(start.elapsed() < PATIENCE, "{id} is still running");
        thread::park_timeout(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn child_processes_end_however_the_server_was_started_and_stopped() {
    use std::os::unix::process::CommandExt;

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("numbers");
    let parent = format!("--parent={}", std::process::id());
    // As a member of a process group, as the leader of one, and as the leader of a session.
    for kind in ["member", "leader", "session"] {
        for (then, code) in [("return", 0), ("hang", 143)] {
            let mut command = Command::new(if kind == "session" { "setsid" } else { PROGRAM });
            if kind == "session" {
                command.arg(PROGRAM);
            }
            if kind == "leader" {
                command.process_group(0);
            }
            let mut process = Process::start_by(command.args(["serve", "local", &parent]));
            process.call(1, "proc.family@1", &json!({"file": file, "then": then}));
            assert!(process.take()["progress"].is_object());
            if then == "return" {
                assert!(process.take()["outputs"].is_object());
                drop(process.input.take());
            } else {
                process.signal("TERM");
                loop {
                    process.call(2, "proc.answer@1", &json!({"text": "a"}));
                    if process.take()["error"]["code"] == "overloaded" {
                        break;
                    }
                }
                process.signal("TERM");
            }
            let (status, errors) = process.wait();
            assert_eq!(status.code(), Some(code), "{kind} {then}: {status} {errors:?}");
            let numbers = std::fs::read_to_string(&file).unwrap();
            let start = Instant::now();
            while let Some(id) = numbers.split_whitespace().find(|id| is_running(id)) {
                assert!(start.elapsed() < PATIENCE, "{kind} {then}: {id} is still running");
                thread::park_timeout(Duration::from_millis(5));
            }
        }
    }
}

/// The arguments of `unshare` for a PID namespace. `None`, with a message, if that is not permitted.
#[cfg(target_os = "linux")]
fn namespace_arguments(own_files: bool) -> Option<Vec<&'static str>> {
    let mut namespace_arguments = vec!["--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
    if own_files {
        namespace_arguments.push("--mount-proc");
    }
    let permitted = Command::new("unshare")
        .args(&namespace_arguments)
        .arg("true")
        .status();
    let permitted = permitted.is_ok_and(|status| status.success());
    if !permitted {
        eprintln!("skipped: namespaces are not permitted here");
    }
    permitted.then_some(namespace_arguments)
}

#[cfg(target_os = "linux")]
#[test]
fn the_server_starts_without_a_group_in_its_namespace() {
    // The group and session were created outside of the namespace, as for a child process in a container.
    let line = call(1, "proc.hang@1", &json!({}), &Value::Null);
    for (own_files, kind) in [false, true]
        .into_iter()
        .flat_map(|own_files| [(own_files, "parent"), (own_files, "parent-of-leader")])
    {
        let Some(namespace_arguments) = namespace_arguments(own_files) else {
            return;
        };
        let mut parent = Command::new("unshare")
            .args(namespace_arguments)
            .args([PROGRAM, kind, "--parent $PID", &line])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut id = String::new();
        let read = BufReader::new(parent.stdout.take().unwrap()).read_line(&mut id);
        parent.kill().unwrap();
        parent.wait().unwrap();
        // A running server makes the parent print its process id.
        assert!(read.unwrap() > 0, "{kind}: the host does not start");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn child_processes_end_without_a_group_in_their_namespace() {
    // The shell is the init process of the namespace: orphans become its children, and no process waits for them.
    const SHELL: &str = r#"
"$0" serve local --parent $$
echo "ended with $?"
for id in $(cat "$1"); do
  while grep -qs "^State:[[:space:]]*[^ZX]" "/proc/$id/status"; do sleep 0.01; done
  echo "$id is gone"
done
"#;
    let Some(namespace_arguments) = namespace_arguments(true) else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("numbers");
    let mut unshare = Command::new("unshare");
    let shell = unshare
        .args(namespace_arguments)
        .args(["sh", "-c", SHELL, PROGRAM])
        .arg(&file);
    let mut process = Process::start_by(shell);
    process.call(1, "proc.family@1", &json!({"file": file, "then": "return"}));
    assert!(process.take()["progress"].is_object());
    assert!(process.take()["outputs"].is_object());
    drop(process.input.take());
    let said: Vec<String> = std::iter::from_fn(|| process.lines.recv_timeout(PATIENCE).ok()).collect();
    let _ = process.child.kill();
    let (_, errors) = process.wait();
    let numbers = std::fs::read_to_string(&file).unwrap();
    let expected: Vec<String> = std::iter::once("ended with 0".to_owned())
        .chain(numbers.split_whitespace().map(|id| format!("{id} is gone")))
        .collect();
    assert_eq!((said.len(), said), (3, expected), "{errors:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_without_its_parent_does_not_start() {
    let (status, errors) = Process::start(&["serve", "local", "--parent", "1"]).wait();
    assert_eq!(status.code(), Some(2));
    assert!(errors.iter().any(|line| line.contains("is gone")), "{errors:?}");
}

#[test]
fn schemas_are_derived_only_for_hosted_skills() {
    // A schema that prints when it is derived shows that.
    for (skills, derived) in [
        (&["proc.answer@1"][..], false),
        (&["proc.answer@1", "proc.loud@1"], true),
        (&[], true),
    ] {
        let mut process = Process::start(&[&["serve", "local"], skills].concat());
        process.call(1, "proc.answer@1", &json!({"text": "a"}));
        assert_eq!(process.take()["outputs"]["result"], "a");
        process.call(2, "proc.loud@1", &json!({}));
        assert_eq!(process.take()["error"]["code"] == "skill_not_hosted", !derived);
        drop(process.input.take());
        let (status, errors) = process.wait();
        assert_eq!(status.code(), Some(0));
        let told = errors.iter().any(|line| line.contains("printed by a schema"));
        assert_eq!(told, derived, "{skills:?}: {errors:?}");
    }
}
