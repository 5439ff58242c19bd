//! Tests of configuration, deadline, settings and hooks.

use std::time::Duration;

use skill_sdk::testing::invoke;

use super::fixture::{Fixture, text};
use crate::merge;
use crate::program::Git;

#[test]
fn a_missing_root_is_retryable() {
    let fixture = Fixture::bare();
    let inputs = || {
        serde_json::json!({
            "repository": "team/app.git", "branch": "main", "commit": fixture.base, "target": "main",
        })
    };
    let file = text(&fixture.repository().join("HEAD"));
    for root in [None, Some(""), Some("/no/such/root"), Some(file.as_str())] {
        let environment = root.map(|root| ("GIT_ROOT", root));
        let error = invoke(merge::SKILL, inputs())
            .envs(environment)
            .blocking()
            .unwrap_err();
        assert_eq!(
            (error.code(), error.is_retryable()),
            ("config_missing", true),
            "{root:?}"
        );
    }
}

/// A command that waits forever is killed at the deadline of the call.
#[cfg(unix)]
#[test]
fn a_command_is_killed_at_the_deadline() {
    let fixture = Fixture::bare();
    let pipe = fixture.repository().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let ctx = fixture.context(Some(Duration::ZERO));
    let git = Git::new(fixture.repository(), &ctx);
    let error = git.run(&["hash-object", "--", "pipe"]).err().unwrap();
    assert_eq!((error.code(), error.is_retryable()), ("timeout", true));
}

#[cfg(unix)]
#[test]
fn hooks_are_not_run() {
    use std::os::unix::fs::PermissionsExt;

    let fixture = Fixture::bare();
    let commit = fixture.publish("feature", Some(&fixture.base), &[("readme", "new\n")]);
    let hook = fixture.repository().join("hooks/reference-transaction");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let outputs = fixture.merge("feature", &commit).blocking().unwrap().outputs;
    assert_eq!(outputs["merged"], true);
}
