//! What another user than the owner may read.
//!
//! Root may read everything, so as root the reading is done by a process of its own: this test binary again, with the
//! one test below, as another user. As an ordinary user the rights of the owner are made those of everybody else.
//!
//! Root runs all tests of secrets once more as an ordinary user.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::cases::{OTHER_PATH, PATH, outcome};
use super::layout::Layout;
use crate::environment::secrets::read_secret_file;

/// Names the directory to read from, and turns the test below into the reader.
const READ_FROM: &str = "SKILL_SDK_TEST_SECRETS_READ_FROM";
const MARK: &str = "read as another user:";
const OTHER_USER: u32 = 65_534;

/// The reader, when it was started as one.
#[test]
fn reader() {
    let Some(root) = std::env::var_os(READ_FROM) else {
        return;
    };
    let dir = PathBuf::from(root).join("run");
    let result = read_secret_file(&dir, "t").map_err(|error| {
        json!({"error": {"code": error.code(), "retryable": error.is_retryable(), "details": error.details()}})
    });
    let shown = result.map_or_else(
        |error| error,
        |secret| json!({"value": secret.map(|s| s.expose().to_owned())}),
    );
    println!("{MARK}{shown}");
}

fn is_root(layout: &Layout) -> bool {
    fs::metadata(layout.root()).unwrap().uid() == 0
}

/// What this test binary prints as another user, with these arguments and these variables.
fn as_nobody(layout: &Layout, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    let run = |program: &Path| {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(variables.iter().copied())
            .current_dir("/");
        command.gid(OTHER_USER).uid(OTHER_USER).output()
    };
    let program = std::env::current_exe().unwrap();
    match run(&program) {
        Ok(output) => output,
        // Other users may have no access to the build folder.
        Err(_) => {
            let copy = layout.path("program");
            if fs::hard_link(&program, &copy).is_err() {
                fs::copy(&program, &copy).unwrap();
            }
            run(&copy).unwrap_or_else(|error| panic!("root cannot become user {OTHER_USER}: {error}"))
        }
    }
}

/// Reads the secret `t` in `run` as another user.
pub(super) fn read_as_another_user(layout: &Layout) -> Value {
    if !is_root(layout) {
        for path in ["run/t", "run"] {
            let path = layout.path(path);
            let others = fs::metadata(&path).unwrap().permissions().mode() & 0o7;
            fs::set_permissions(path, fs::Permissions::from_mode(others << 6)).unwrap();
        }
        return outcome(layout, read_secret_file(&layout.run(), "t"));
    }
    let reader = format!("{}::reader", module());
    let arguments = ["--exact", "--nocapture", &reader];
    let output = as_nobody(layout, &arguments, &[(READ_FROM, layout.root())]);
    let text = String::from_utf8(output.stdout).unwrap();
    // The mark stands behind the name of the test, on the same line.
    let shown = text
        .lines()
        .find_map(|line| line.split_once(MARK))
        .unwrap_or_else(|| panic!("no answer in {text}"))
        .1;
    serde_json::from_str(&shown.replace(layout.root(), "<root>")).unwrap()
}

/// This module, as names of tests have it.
fn module() -> &'static str {
    module_path!().split_once("::").unwrap().1
}

#[test]
fn all_of_it_works_for_an_ordinary_user() {
    let layout = Layout::new();
    if !is_root(&layout) {
        // Then all of it does already.
        return;
    }
    layout.dir("temporary");
    layout.mode("temporary", 0o777);
    let (all, _) = module().rsplit_once("::").unwrap();
    let own = "all_of_it_works_for_an_ordinary_user";
    let (temporary, cases) = (layout.path("temporary"), layout.path("cases.json"));
    // Other users may have no access to the folder of the recordings.
    let has_cases = fs::copy(PATH, &cases).is_ok();
    if has_cases {
        layout.mode("cases.json", 0o644);
    }
    let output = as_nobody(
        &layout,
        &[all, "--nocapture", "--skip", own, "--skip", "many_reads"],
        &[
            ("TMPDIR", temporary.to_str().unwrap()),
            (OTHER_PATH, cases.to_str().unwrap()),
        ],
    );
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert_eq!(text.contains("skipped:"), !has_cases, "{text}");
    let (_, passed) = text.rsplit_once("test result: ok. ").unwrap();
    let passed: usize = passed.split(' ').next().unwrap().parse().unwrap();
    assert!(passed > 20, "{text}");
}

/// The outcome for a file that may not be read.
pub(super) fn unreadable(layout: &Layout) -> Value {
    let error = json!({"error": {
        "code": "secret_unreadable",
        "retryable": true,
        "details": {"secret": "t", "path": layout.path("run/t").to_str().unwrap()},
    }});
    serde_json::from_str(&error.to_string().replace(layout.root(), "<root>")).unwrap()
}

#[test]
fn rights_decide_and_never_crash() {
    for (file, dir, readable) in [
        (0o644, 0o755, true),
        (0o600, 0o755, false),
        (0o644, 0o711, false),
        (0o644, 0o744, false),
        (0o644, 0o700, false),
    ] {
        let layout = Layout::with_run();
        layout.file("run/t", "hunter2");
        layout.mode("run/t", file);
        layout.mode("run", dir);
        let got = read_as_another_user(&layout);
        let wanted = if readable {
            json!({"value": "hunter2"})
        } else {
            unreadable(&layout)
        };
        assert_eq!(got, wanted, "{file:o} in {dir:o}");
    }
}
