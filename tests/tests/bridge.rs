//! The Python bridge, called by an executor that imports Python modules and knows nothing of Rust.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic of a test program is a failed test"
)]

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_local-skills");
const EXECUTOR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/oracles/executor.py");

/// A Python that is new enough; none, with a message, where there is none.
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
        "SKILL_SDK_TEST_PYTHON names a Python from 3.11 on"
    );
    if !found {
        eprintln!("skipped: there is no Python from 3.11 on");
    }
    found.then_some(python)
}

/// A package in a directory of its own, and the executor that imports it.
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
        Command::new(PROGRAM)
            .args(["bridge", "python", "--out"])
            .arg(self.out())
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

    /// Python with the modules at hand.
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

    /// Runs calls and gives their answers.
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

    /// The processes that run the program of this bridge.
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

#[test]
fn skills_are_found_by_the_type_of_objects_at_their_entrypoints() {
    let Some(bridge) = Bridge::new(&[]) else { return };
    let output = bridge.executor(&["list"]).output().unwrap();
    let mut listed: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    listed.sort_by_key(|skill| skill["ref"].to_string());
    let own = Command::new(PROGRAM)
        .args(["list", "--format", "json"])
        .output()
        .unwrap();
    let own: Vec<Value> = serde_json::from_slice(&own.stdout).unwrap();
    assert_eq!(listed.len(), own.len());
    for (listed, own) in listed.iter().zip(&own) {
        assert_eq!(
            (&listed["ref"], &listed["entrypoint"]),
            (&own["ref"], &own["entrypoint"])
        );
        let reference = own["ref"].as_str().unwrap();
        let contract = Command::new(PROGRAM)
            .args(["contract", reference])
            .output()
            .unwrap();
        let contract: Value = serde_json::from_slice(&contract.stdout).unwrap();
        assert_eq!(listed["contract"], contract);
        assert!(!listed["description"].as_str().unwrap().is_empty());
    }
    assert!(
        listed
            .iter()
            .any(|skill| skill["entrypoint"] == "local_skills.deep.inner:context")
    );
}

#[test]
fn calls_and_their_outcomes() {
    let Some(bridge) = Bridge::new(&[]) else { return };
    let violation = json!({"errors": [{"path": "/", "message": "\"text\" is a required property"}]});
    let cases = [
        (
            call("proc.answer@1", &json!({"text": "я\u{0}\u{d7ff}🙂"})),
            json!({"outputs": {"result": "я\u{0}\u{d7ff}🙂"}, "cost": null}),
        ),
        (
            call("proc.answer@1", &json!({"text": "x".repeat(5_000_000)})),
            json!({"outputs": {"result": "x".repeat(5_000_000)}, "cost": null}),
        ),
        (
            json!({"ref": "proc.context@3", "inputs": {"text": "a"}, "meta": {
                "invocationId": "i", "idempotencyKey": "k", "timeoutSeconds": 7,
                "settings": {"package": "p", "version": "1", "schemaRevision": 1, "values": {"a": [1]}}}}),
            json!({"outputs": {"text": "a", "invocation": "i", "key": "k", "settings": {"a": [1]}, "seconds": 7},
                   "cost": {"units": {"ops": 2.0}}}),
        ),
        (
            json!({"ref": "proc.context@3", "inputs": {}, "meta": {"timeoutSeconds": 0}, "start": "spawn"}),
            json!({"outputs": {"text": null, "invocation": null, "key": null, "settings": {}, "seconds": 40},
                   "cost": {"units": {"ops": 2.0}}}),
        ),
        (
            call("proc.print@1", &json!({})),
            json!({"outputs": {"result": "Ok(true)"}, "cost": null}),
        ),
        (
            call("proc.fail@1", &json!({"kind": "retryable"})),
            failed("upstream_busy", "later", true, &Value::Null),
        ),
        (
            call("proc.fail@1", &json!({"kind": "terminal"})),
            failed("denied", "refused", false, &json!({"why": ["policy", 1]})),
        ),
        (
            call("proc.fail@1", &json!({"kind": "panic"})),
            failed(
                "skill_error",
                "the implementation of the skill panicked",
                false,
                &Value::Null,
            ),
        ),
        (
            call("proc.fail@1", &json!({"kind": "exit"})),
            failed(
                "skill_error",
                "the program with the skills ended without an answer (status 3)",
                false,
                &Value::Null,
            ),
        ),
        (
            call("proc.fail@1", &json!({"kind": "abort"})),
            failed(
                "skill_error",
                "the program with the skills ended without an answer (status -6)",
                false,
                &Value::Null,
            ),
        ),
        (
            call("proc.answer@1", &json!({})),
            failed(
                "input_contract_violation",
                "inputs do not match the skill's input schema",
                false,
                &violation,
            ),
        ),
        (
            call("proc.answer@1", &json!([])),
            failed(
                "bad_request",
                "\"inputs\" must be a JSON object",
                false,
                &Value::Null,
            ),
        ),
        (
            // The executor is in no hurry here; its own time begins before that of the host.
            json!({"ref": "proc.sleep@1", "inputs": {}, "kill": 60}),
            failed(
                "timeout",
                "proc.sleep@1: the time of the call is up",
                true,
                &Value::Null,
            ),
        ),
    ];
    let calls: Vec<Value> = cases.iter().map(|(call, _)| call.clone()).collect();
    for (answer, (call, expected)) in bridge.run(&calls).iter().zip(&cases) {
        let call = call.to_string();
        assert!(answer == expected, "{}: {}", &call[..call.len().min(200)], {
            let answer = answer.to_string();
            answer.chars().take(500).collect::<String>()
        });
    }
    #[cfg(target_os = "linux")]
    assert_eq!(bridge.running(), Vec::<PathBuf>::new());
}

#[test]
fn what_is_no_json_is_named() {
    const SCRIPT: &str = r#"
import json, sys
import local_skills

# A program without a console has none.
sys.stdout, out = None, sys.stdout
for inputs, meta in [
    ({"text": float("nan")}, {}),
    ({"text": "a"}, {"settings": {"values": {1}}}),
    ({"text": "a"}, {"timeoutSeconds": float("inf")}),
    ({"text": "a"}, {"timeoutSeconds": 9}),
]:
    try:
        answer = local_skills.answer.__skill_invoke__(inputs, meta)
    except Exception as error:
        answer = {"code": error.code, "message": error.message, "details": error.details}
    out.write(json.dumps(answer) + "\n")
"#;
    let Some(bridge) = Bridge::new(&[]) else { return };
    let output = bridge.interpreter().args(["-c", SCRIPT]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 4, "{}", String::from_utf8_lossy(&output.stderr));
    let place = answers[0]["details"]["errors"][0]["message"].as_str().unwrap();
    assert_eq!(answers[0]["code"], "input_contract_violation");
    assert!(place.starts_with("inputs are not JSON: "), "{place}");
    for (answer, member) in answers[1..].iter().zip(["settings", "timeoutSeconds"]) {
        let message = answer["message"].as_str().unwrap();
        assert_eq!(answer["code"], "bad_request");
        assert!(
            message.starts_with(&format!("`meta.{member}` is not JSON: ")),
            "{message}"
        );
    }
    assert_eq!(answers[3], json!({"outputs": {"result": "a"}, "cost": null}));
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_call_leaves_no_orphan() {
    let Some(bridge) = Bridge::new(&[]) else { return };
    let mut calls = Vec::new();
    for skill in ["proc.hang@1", "proc.spin@1"] {
        for start in ["fork", "spawn"] {
            // Long enough for the call to begin, even where a whole interpreter starts first.
            calls.push(json!({"ref": skill, "inputs": {}, "kill": 2, "start": start}));
        }
    }
    for answer in bridge.run(&calls) {
        assert_eq!(answer, failed("timeout", "killed", true, &Value::Null));
    }
    let start = Instant::now();
    while !bridge.running().is_empty() {
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "{:?} live on",
            bridge.running()
        );
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Whether a process is there and not only remembered by its parent.
#[cfg(target_os = "linux")]
fn lives(id: &str) -> bool {
    fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| {
        let state = stat.rsplit(')').next().unwrap_or_default();
        !state.trim_start().starts_with(['Z', 'X'])
    })
}

#[cfg(target_os = "linux")]
#[test]
fn what_a_skill_started_ends_with_the_call() {
    let Some(bridge) = Bridge::new(&[]) else { return };
    let file = bridge.out().join("numbers");
    let cases = [
        ("return", json!({}), None),
        ("hang", json!({"timeoutSeconds": 1}), Some("timeout")),
        ("exit", json!({}), Some("skill_error")),
        ("kill", json!({}), Some("skill_error")),
        ("hang", json!({"kill": true}), Some("timeout")),
    ];
    for ((then, how, code), start) in cases.iter().flat_map(|case| [(case, "fork"), (case, "spawn")]) {
        // The executor kills by the clock: it has to wait until the processes run, however busy the machine is.
        let mut numbers = String::new();
        for seconds in [2, 8, 32, 128] {
            drop(fs::remove_file(&file));
            let mut call =
                json!({"ref": "proc.family@1", "inputs": {"file": file, "then": then}, "start": start});
            if how["kill"] == true {
                call["kill"] = seconds.into();
            } else {
                (call["kill"], call["meta"]) = (1000.into(), how.clone());
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
        let begin = Instant::now();
        while numbers.iter().any(|number| lives(number)) || !bridge.running().is_empty() {
            assert!(
                begin.elapsed() < Duration::from_mins(1),
                "{then} {start}: {numbers:?} live on"
            );
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }
}

#[test]
fn the_program_can_be_elsewhere() {
    let Some(bridge) = Bridge::new(&["--program", "/does/not/exist"]) else {
        return;
    };
    assert!(!bridge.program().exists(), "the program is not copied");
    let calls = [call("proc.answer@1", &json!({"text": "a"}))];
    let message = "the program /does/not/exist with the skills cannot be started: No such file or directory";
    assert_eq!(
        bridge.run(&calls),
        [failed("skill_program_unavailable", message, true, &Value::Null)]
    );
    let mut executor = bridge.executor(&["run"]);
    executor.env("SKILL_SDK_BRIDGE_PROGRAM", PROGRAM);
    assert_eq!(
        Bridge::run_by(executor, &calls),
        [json!({"outputs": {"result": "a"}, "cost": null})]
    );
    assert!(bridge.write(&["--program", PROGRAM]).status.success());
    assert_eq!(
        bridge.run(&calls),
        [json!({"outputs": {"result": "a"}, "cost": null})]
    );
}

#[test]
fn a_program_that_speaks_otherwise_is_named() {
    let Some(bridge) = Bridge::new(&["--program", "/does/not/exist"]) else {
        return;
    };
    let calls = [call("proc.answer@1", &json!({"text": "a"}))];
    let program = bridge.out().join("program");
    fs::write(&program, "#!/bin/sh\nread call\ncat \"$0.says\"\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for line in [
        &b"\n"[..],
        b"usage: skills\n",
        b"null\n",
        b"7\n",
        b"[\"id\"]\n",
        b"\"id\"\n",
        b"{}\n",
        b"{\"id\": 1}\n",
        b"{\"outputs\": {}}\n",
        b"{\"id\": 1, \"skills\": []}\n",
        b"{\"id\": 1, \"error\": \"no\"}\n",
        b"{\"id\": 1, \"error\": {\"code\": \"denied\"}}\n",
        b"\xff\n",
    ] {
        fs::write(program.with_extension("says"), line).unwrap();
        let mut executor = bridge.executor(&["run"]);
        executor.env("SKILL_SDK_BRIDGE_PROGRAM", &program);
        let message = format!(
            "the program {} does not answer as a program with skills does",
            program.display()
        );
        assert_eq!(
            Bridge::run_by(executor, &calls),
            [failed("skill_program_unavailable", &message, false, &Value::Null)],
            "{line:?}"
        );
    }
}

#[test]
fn only_the_targets_are_bridged() {
    let Some(bridge) = Bridge::new(&["proc.answer", "proc.context@3"]) else {
        return;
    };
    let output = bridge.executor(&["list"]).output().unwrap();
    let listed: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let mut references: Vec<&str> = listed.iter().filter_map(|skill| skill["ref"].as_str()).collect();
    references.sort_unstable();
    assert_eq!(references, ["proc.answer@1", "proc.context@3"]);
    let answers = bridge.run(&[call("proc.answer@1", &json!({"text": "a"}))]);
    assert_eq!(answers, [json!({"outputs": {"result": "a"}, "cost": null})]);
    let output = bridge.write(&["proc.no-such"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("proc.no-such"));
}

#[test]
fn drift_is_reported_and_files_of_others_are_left_alone() {
    let Some(bridge) = Bridge::new(&[]) else { return };
    let said = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();
    let output = bridge.write(&["--check"]);
    assert_eq!(
        (output.status.code(), said(&output)),
        (Some(0), "ok\n".to_owned())
    );
    fs::remove_file(bridge.program()).unwrap();
    let output = bridge.write(&["--check"]);
    // It is not kept where the modules are, so that it is not compared.
    assert_eq!(
        (output.status.code(), said(&output)),
        (Some(0), "ok\n".to_owned())
    );
    let warned = String::from_utf8_lossy(&output.stderr);
    assert!(
        warned.contains(&format!("{} is missing", bridge.program().display())),
        "{warned}"
    );
    assert!(said(&bridge.write(&[])).contains("unchanged "));

    let module = bridge.out().join("local_skills/deep/__init__.py");
    let text = fs::read_to_string(&module).unwrap();
    fs::write(&module, text.clone() + "\n").unwrap();
    fs::remove_file(bridge.out().join("local_skills/__init__.py")).unwrap();
    fs::create_dir(bridge.out().join("local_skills/gone")).unwrap();
    fs::write(bridge.out().join("local_skills/gone/__init__.py"), &text).unwrap();
    fs::write(bridge.out().join("local_skills/deep/own.py"), "precious").unwrap();
    let output = bridge.write(&["--check"]);
    assert_eq!(output.status.code(), Some(1));
    let lines: Vec<String> = said(&output).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    for (line, expected) in lines.iter().zip(["is missing", "differs", "is left over"]) {
        assert!(line.contains(expected), "{lines:?}");
    }
    // A selection is another package.
    assert_eq!(bridge.write(&["--check", "proc.answer"]).status.code(), Some(1));

    let output = bridge.write(&[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is left over"));
    assert_eq!(fs::read_to_string(&module).unwrap(), text);

    fs::write(&module, "mine = 1\n").unwrap();
    let output = bridge.write(&[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was not written by the bridge"));
    assert_eq!(fs::read_to_string(&module).unwrap(), "mine = 1\n");
}

#[test]
fn the_executor_reads_answers_as_the_recorded_one() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases/executor_http.json");
    let Some(python) = python().filter(|_| cases.exists()) else {
        eprintln!("skipped: the recorded cases are not at hand");
        return;
    };
    let output = Command::new(python)
        .args([EXECUTOR, "answers"])
        .arg(cases)
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "{\"cases\": 26}\n");
}
