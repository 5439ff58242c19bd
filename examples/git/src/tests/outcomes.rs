//! Tests of the outcomes of a merge.

use serde_json::{Value, json};
use skill_sdk::testing::{assert_package_matches, assert_valid_contract};

use super::fixture::Fixture;
use crate::merge;

#[test]
fn the_contract_is_valid() {
    assert_valid_contract(merge::SKILL);
}

#[test]
fn the_package_is_up_to_date() {
    assert_package_matches("package");
}

#[test]
fn a_merge_contains_both_changes() {
    let fixture = Fixture::bare();
    let commit = fixture.publish(
        "feature/x",
        Some(&fixture.base),
        &[("readme", "one\n"), ("list", "a\nb\nC\n"), ("new", "new\n")],
    );
    let before = fixture.publish(
        "main",
        Some(&fixture.base),
        &[("readme", "two\n"), ("list", "a\nb\nc\n")],
    );

    let outputs = fixture.merge("feature/x", &commit).blocking().unwrap().outputs;

    let tip = fixture.tip("main");
    assert_eq!(outputs, json!({"merged": true, "sha": tip, "reason": null}));
    assert_eq!(
        fixture.git(&["log", "-1", "--format=%P", &tip]),
        format!("{before} {commit}")
    );
    assert_eq!(
        fixture.git(&["log", "-1", "--format=%an %s", &tip]),
        "git.merge Merge branch 'feature/x' into main"
    );
    for (name, expected) in [("readme", "two"), ("list", "a\nb\nC"), ("new", "new")] {
        assert_eq!(fixture.file("main", name), expected, "{name}");
    }
}

#[test]
fn a_working_tree_is_not_touched() {
    let fixture = Fixture::ordinary();
    let commit = fixture.publish("feature", Some(&fixture.base), &[("readme", "new\n")]);
    std::fs::write(fixture.repository().join("readme"), "not saved").unwrap();

    let outputs = fixture.merge("feature", &commit).blocking().unwrap().outputs;

    assert_eq!(outputs["merged"], true);
    assert_eq!(fixture.file("main", "readme"), "new");
    let kept = std::fs::read_to_string(fixture.repository().join("readme")).unwrap();
    assert_eq!(kept, "not saved");
}

#[test]
fn a_conflict_is_an_output() {
    let fixture = Fixture::bare();
    let commit = fixture.publish("feature", Some(&fixture.base), &[("readme", "theirs\n")]);
    let before = fixture.publish("main", Some(&fixture.base), &[("readme", "ours\n")]);

    let outputs = fixture.merge("feature", &commit).blocking().unwrap().outputs;

    assert_eq!(outputs, rejection("conflict"));
    assert_eq!(fixture.tip("main"), before);
}

#[test]
fn a_moved_branch_is_an_output() {
    let fixture = Fixture::bare();
    let seen = fixture.publish("feature", Some(&fixture.base), &[("readme", "first\n")]);
    fixture.publish("feature", Some(&seen), &[("readme", "second\n")]);

    for commit in [seen.as_str(), &"0".repeat(40), &"a".repeat(64)] {
        let outputs = fixture.merge("feature", commit).blocking().unwrap().outputs;
        assert_eq!(outputs, rejection("branch_moved"), "{commit}");
    }
    assert_eq!(fixture.tip("main"), fixture.base);
}

#[test]
fn a_retry_has_no_second_effect() {
    let fixture = Fixture::bare();
    let commit = fixture.publish("feature", Some(&fixture.base), &[("readme", "new\n")]);
    let first = fixture.merge("feature", &commit).blocking().unwrap().outputs;
    assert_eq!(first["merged"], true);
    let commits = fixture.commits("main");

    let already = json!({"merged": true, "sha": first["sha"], "reason": "already_merged"});
    assert_eq!(
        fixture.merge("feature", &commit).blocking().unwrap().outputs,
        already
    );
    // A branch may be deleted after its merge, and the retry may come later.
    fixture.git(&["update-ref", "-d", "refs/heads/feature"]);
    assert_eq!(
        fixture.merge("feature", &commit).blocking().unwrap().outputs,
        already
    );
    assert_eq!(fixture.commits("main"), commits);
}

#[test]
fn caller_mistakes_are_terminal() {
    let fixture = Fixture::bare();
    let commit = fixture.publish("feature", Some(&fixture.base), &[("readme", "new\n")]);
    let stranger = fixture.publish("stranger", None, &[("other", "new\n")]);
    for (change, code, part) in [
        (json!({"branch": "nobody"}), "branch_missing", "`nobody`"),
        (json!({"target": "nobody"}), "branch_missing", "`nobody`"),
        (
            json!({"repository": "team/other.git"}),
            "repository_unknown",
            "GIT_ROOT",
        ),
        // A directory that is not a repository.
        (json!({"repository": "team"}), "repository_unknown", "GIT_ROOT"),
        (
            json!({"branch": "stranger", "commit": stranger}),
            "histories_unrelated",
            "in common",
        ),
    ] {
        let mut inputs = json!({
            "repository": "team/app.git", "branch": "feature", "commit": commit, "target": "main",
        });
        for (key, value) in change.as_object().unwrap() {
            inputs[key] = value.clone();
        }
        let error = fixture.call(&inputs).blocking().unwrap_err();
        assert_eq!((error.code(), error.is_retryable()), (code, false), "{change}");
        assert!(error.message().contains(part), "{change}: {error}");
    }
}

fn rejection(reason: &str) -> Value {
    json!({"merged": false, "sha": null, "reason": reason})
}
