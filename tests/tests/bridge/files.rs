//! The files of the bridge, and the program that it starts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;

use serde_json::{Value, json};

use super::{Bridge, PROGRAM, call, failed};

#[test]
fn the_program_can_be_moved() {
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
fn a_program_with_another_protocol_is_reported() {
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
fn drift_is_reported_and_other_files_are_kept() {
    let Some(bridge) = Bridge::new(&[]) else { return };
    let said = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();
    let output = bridge.write(&["--check"]);
    assert_eq!(
        (output.status.code(), said(&output)),
        (Some(0), "ok\n".to_owned())
    );
    fs::remove_file(bridge.program()).unwrap();
    let output = bridge.write(&["--check"]);
    // The record is kept elsewhere than the modules, so that it is not compared with them.
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
    // Another selection of skills is another package.
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
