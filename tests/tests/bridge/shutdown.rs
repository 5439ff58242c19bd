//! The end of a call ends the program of the bridge and all processes that the skill started.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Bridge, call, failed};

/// The timeouts of the executor in seconds. It kills by the clock, so on a busy machine the program may not have started
/// by then. In that case the test tries the next timeout.
const PATIENCE: [u64; 4] = [2, 8, 32, 128];

/// Waits until `gone` returns true.
#[track_caller]
fn wait_until(what: &str, gone: impl Fn() -> bool) {
    let start = Instant::now();
    while !gone() {
        assert!(start.elapsed() < Duration::from_mins(1), "{what}: still running");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Runs a call that is killed. Returns whether the program of the bridge was seen running.
fn run_and_kill(bridge: &Bridge, call: &Value) -> bool {
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| bridge.run(std::slice::from_ref(call)).remove(0));
        let mut seen = false;
        while !answer.is_finished() {
            seen |= !bridge.running().is_empty();
            std::thread::park_timeout(Duration::from_millis(5));
        }
        assert_eq!(
            answer.join().unwrap(),
            failed("timeout", "killed", true, &Value::Null)
        );
        seen
    })
}

#[test]
fn a_killed_call_leaves_no_orphan() {
    let Some(bridge) = Bridge::new(&[]) else { return };
    for skill in ["proc.hang@1", "proc.spin@1"] {
        for start in ["fork", "spawn"] {
            let began = PATIENCE.iter().any(|seconds| {
                let call = json!({"ref": skill, "inputs": {}, "kill": seconds, "start": start});
                run_and_kill(&bridge, &call)
            });
            assert!(began, "{skill} {start}: the program does not start");
            wait_until(skill, || bridge.running().is_empty());
        }
    }
}

/// Whether a process is running, as opposed to a zombie.
fn is_running(id: &str) -> bool {
    fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().unwrap_or_default();
        !state.trim_start().starts_with(['Z', 'X'])
    })
}

#[test]
fn child_processes_of_a_skill_end_with_the_call() {
    let Some(bridge) = Bridge::new(&[]) else { return };
    let file = bridge.out().join("numbers");
    // How the skill ends, what ends it after a time, and the error code.
    let cases = [
        ("return", "nothing", None),
        ("hang", "the host", Some("timeout")),
        ("exit", "nothing", Some("skill_error")),
        ("kill", "nothing", Some("skill_error")),
        ("hang", "the executor", Some("timeout")),
    ];
    for ((then, ended_by, code), start) in cases.iter().flat_map(|case| [(case, "fork"), (case, "spawn")]) {
        let mut numbers = String::new();
        for seconds in PATIENCE {
            drop(fs::remove_file(&file));
            let mut call = json!({"ref": "proc.family@1", "inputs": {"file": file, "then": then}, "start": start, "kill": 1000});
            match *ended_by {
                "the host" => call["meta"] = json!({"timeoutSeconds": seconds}),
                "the executor" => call["kill"] = seconds.into(),
                _ => {}
            }
            let answer = bridge.run(&[call]).remove(0);
            assert_eq!(
                answer["failure"]["code"].as_str(),
                *code,
                "{then} {start}: {answer}"
            );
            numbers = fs::read_to_string(&file).unwrap_or_default();
            if !numbers.is_empty() {
                break;
            }
        }
        let numbers: Vec<&str> = numbers.split_whitespace().collect();
        assert_eq!(numbers.len(), 2, "{then} {start}");
        wait_until(&format!("{then} {start}"), || {
            !numbers.iter().any(|number| is_running(number)) && bridge.running().is_empty()
        });
    }
}

#[test]
fn the_process_group_ends_after_a_normal_exit() {
    // A program with skills does this if it cannot leave its process group and its children ignore SIGTERM.
    const SCRIPT: &str = r#"
import os, subprocess, sys

os.setpgid(0, 0)
null = subprocess.DEVNULL
child = subprocess.Popen(["sleep", "1000"], stdin=null, stdout=null, stderr=null)
with open(sys.argv[0] + ".child", "w") as file:
    file.write(str(child.pid))
sys.stdin.readline()
print('{"id": 1, "outputs": {"result": "a"}, "cost": null}', flush=True)
os._exit(0)
"#;
    let Some(bridge) = Bridge::new(&["--program", "/does/not/exist"]) else {
        return;
    };
    let program = bridge.out().join("program");
    let script = bridge.out().join("script");
    let starts = format!(
        "#!/bin/sh\nexec {} {}\n",
        bridge.python.display(),
        script.display()
    );
    fs::write(&script, SCRIPT).unwrap();
    fs::write(&program, starts).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut executor = bridge.executor(&["run"]);
    executor.env("SKILL_SDK_BRIDGE_PROGRAM", &program);
    assert_eq!(
        Bridge::run_by(executor, &[call("proc.answer@1", &json!({"text": "a"}))]),
        [json!({"outputs": {"result": "a"}, "cost": null})]
    );
    let child = fs::read_to_string(bridge.out().join("script.child")).unwrap();
    wait_until("the child", || !is_running(&child));
}
