//! The host as a process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skill_sdk_tests::program;

use super::client::{PATIENCE, call, lines};

const PROGRAM: &str = env!("CARGO_BIN_EXE_local-skills");

/// A host in a process of its own.
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
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line} is no line of the protocol"))
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
            "there is nothing else"
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
fn a_signal_drains_and_a_second_one_ends_at_once() {
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let mut process = Process::start(&["serve", "local"]);
        process.call(1, "proc.hang@1", &json!({}));
        assert_eq!(process.take()["progress"]["message"], "hanging");
        process.signal(signal);
        // The first signal is heard once calls are refused.
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
fn the_time_for_running_calls_is_bounded() {
    for skill in ["proc.hang@1", "proc.spin@1"] {
        let mut process = Process::start(&["serve", "local", "--drain-seconds", "0"]);
        process.call(1, skill, &json!({}));
        assert!(process.take()["progress"].is_object());
        drop(process.input.take());
        assert_eq!(process.take()["error"]["code"], "cancelled", "{skill}");
        assert_eq!(process.wait().0.code(), Some(0));
    }
}

/// Whether a process is there and not only remembered by its parent.
#[cfg(target_os = "linux")]
fn lives(id: &str) -> bool {
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
fn a_killed_parent_leaves_no_orphan() {
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
            assert!(lives(id));
            parent.kill().unwrap();
            parent.wait().unwrap();
            let start = Instant::now();
            while lives(id) {
                assert!(start.elapsed() < PATIENCE, "{request} {skill}: {id} lives on");
                thread::park_timeout(Duration::from_millis(5));
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_skill_started_ends_with_a_host_that_follows_its_parent() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("numbers");
    let inputs = json!({"file": file, "then": "hang"});
    let line = call(1, "proc.family@1", &inputs, &Value::Null);
    // The host ends with its parent, also when calls have all the time of the world.
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
    assert!(all.len() == 3 && all.iter().all(|id| lives(id)), "{all:?}");
    parent.kill().unwrap();
    parent.wait().unwrap();
    let start = Instant::now();
    while let Some(id) = all.iter().find(|id| lives(id)) {
        assert!(start.elapsed() < PATIENCE, "{id} lives on");
        thread::park_timeout(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_skill_started_ends_with_a_host_however_that_was_started_and_ends() {
    use std::os::unix::process::CommandExt;

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("numbers");
    let parent = format!("--parent={}", std::process::id());
    // As a member of a group, as the leader of one, and as the leader of a session.
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
            while let Some(id) = numbers.split_whitespace().find(|id| lives(id)) {
                assert!(start.elapsed() < PATIENCE, "{kind} {then}: {id} lives on");
                thread::park_timeout(Duration::from_millis(5));
            }
        }
    }
}

/// The arguments of `unshare` for a namespace of processes; none, with a message, where that is not permitted.
#[cfg(target_os = "linux")]
fn alone(own_files: bool) -> Option<Vec<&'static str>> {
    let mut alone = vec!["--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
    if own_files {
        alone.push("--mount-proc");
    }
    let permitted = Command::new("unshare").args(&alone).arg("true").status();
    let permitted = permitted.is_ok_and(|status| status.success());
    if !permitted {
        eprintln!("nothing is tested: namespaces are not permitted here");
    }
    permitted.then_some(alone)
}

#[cfg(target_os = "linux")]
#[test]
fn a_host_starts_where_its_group_and_session_have_no_number() {
    // They began outside of the namespace, as in a container that is a child and nothing more.
    let line = call(1, "proc.hang@1", &json!({}), &Value::Null);
    for (own_files, kind) in [false, true]
        .into_iter()
        .flat_map(|own_files| [(own_files, "parent"), (own_files, "parent-of-leader")])
    {
        let Some(alone) = alone(own_files) else { return };
        let mut parent = Command::new("unshare")
            .args(alone)
            .args([PROGRAM, kind, "--parent $PID", &line])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut id = String::new();
        let read = BufReader::new(parent.stdout.take().unwrap()).read_line(&mut id);
        parent.kill().unwrap();
        parent.wait().unwrap();
        // It prints the number of a host that works.
        assert!(read.unwrap() > 0, "{kind}: the host does not start");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_skill_started_ends_where_the_group_of_the_host_has_no_number() {
    // The shell is the first process of the namespace: whoever lost its parent is its child, and none of it waits for them.
    const SHELL: &str = r#"
"$0" serve local --parent $$
echo "ended with $?"
for id in $(cat "$1"); do
  while grep -qs "^State:[[:space:]]*[^ZX]" "/proc/$id/status"; do sleep 0.01; done
  echo "$id is gone"
done
"#;
    let Some(alone) = alone(true) else { return };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("numbers");
    let mut unshare = Command::new("unshare");
    let shell = unshare.args(alone).args(["sh", "-c", SHELL, PROGRAM]).arg(&file);
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
fn a_host_whose_parent_is_gone_already_does_not_start() {
    let (status, errors) = Process::start(&["serve", "local", "--parent", "1"]).wait();
    assert_eq!(status.code(), Some(2));
    assert!(errors.iter().any(|line| line.contains("is gone")), "{errors:?}");
}

#[test]
fn nothing_is_derived_of_skills_that_are_not_hosted() {
    // A schema that prints when it is derived tells.
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
