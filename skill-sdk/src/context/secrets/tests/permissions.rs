//! What another user than the owner may read.
//!
//! Root may read everything, so as root the reading is done by a process of its own: this test binary again, with the
//! one test below, as another user. As an ordinary user the rights of the owner are made those of everybody else.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::cases::outcome;
use super::layout::Layout;
use crate::context::secrets::read_secret_file;

/// Names the directory to read from, and turns the test below into the reader.
const READ_FROM: &str = "SKILL_SDK_TEST_SECRETS_READ_FROM";
const MARK: &str = "read as another user:";
const NOBODY: u32 = 65_534;

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

/// The secret `t` in `run` as somebody else than the owner gets it. `None`, with a message, when that cannot be tried.
pub(super) fn read_as_another_user(layout: &Layout) -> Option<Value> {
    if fs::metadata(layout.root()).unwrap().uid() != 0 {
        for path in ["run/t", "run"] {
            let path = layout.path(path);
            let others = fs::metadata(&path).unwrap().permissions().mode() & 0o7;
            fs::set_permissions(path, fs::Permissions::from_mode(others << 6)).unwrap();
        }
        return Some(outcome(layout, read_secret_file(&layout.run(), "t")));
    }
    let program = std::env::current_exe().unwrap();
    let (_, module) = module_path!().split_once("::").unwrap();
    let output = Command::new(&program)
        .args(["--exact", "--nocapture", &format!("{module}::reader")])
        .env(READ_FROM, layout.root())
        .current_dir(Path::new("/"))
        .gid(NOBODY)
        .uid(NOBODY)
        .output();
    let Ok(output) = output else {
        eprintln!(
            "skipped: user {NOBODY} cannot run {}, so reading as an ordinary user was not tried",
            program.display()
        );
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    // The mark stands behind the name of the test, on the same line.
    let shown = text
        .lines()
        .find_map(|line| line.split_once(MARK))
        .unwrap_or_else(|| panic!("no answer in {text}"))
        .1;
    Some(serde_json::from_str(&shown.replace(layout.root(), "<root>")).unwrap())
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
        let Some(got) = read_as_another_user(&layout) else {
            return;
        };
        let wanted = if readable {
            json!({"value": "hunter2"})
        } else {
            unreadable(&layout)
        };
        assert_eq!(got, wanted, "{file:o} in {dir:o}");
    }
}
