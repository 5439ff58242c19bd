//! Tests of concurrent merges.

use std::thread;

use super::fixture::Fixture;
use crate::names::{BranchName, CommitId, RepositoryName};
use crate::repository::{Advance, Repository};

#[test]
fn concurrent_merges_all_succeed() {
    let fixture = Fixture::bare();
    let branches = ["a", "b", "c", "d"].map(|name| {
        let files = [("readme", "one\n"), ("list", "a\nb\nc\n"), (name, "new\n")];
        (name, fixture.publish(name, Some(&fixture.base), &files))
    });
    thread::scope(|scope| {
        // The same merge twice at once has one effect.
        let calls = branches.iter().chain(&branches);
        let calls: Vec<_> = calls
            .map(|(branch, commit)| scope.spawn(|| fixture.merge(branch, commit).blocking()))
            .collect();
        for call in calls {
            assert_eq!(call.join().unwrap().unwrap().outputs["merged"], true);
        }
    });
    for (name, _) in &branches {
        assert_eq!(fixture.file("main", name), "new");
    }
    // The initial commit, four branches, four merges.
    assert_eq!(fixture.commits("main"), 9);
}

#[test]
fn nothing_is_written_if_a_branch_moved() {
    let fixture = Fixture::bare();
    let ctx = fixture.context(None);
    let name = RepositoryName::try_from("team/app.git".to_owned()).unwrap();
    let repository = Repository::open(&name, &ctx).unwrap();
    let commit = fixture.publish("feature", Some(&fixture.base), &[("readme", "new\n")]);
    let [target, branch] = ["main", "feature"].map(|name| BranchName::try_from(name.to_owned()).unwrap());
    let id = |text: &str| CommitId::try_from(text.to_owned()).unwrap();
    let other = fixture.publish("other", None, &[]);
    for (from, published) in [(other.as_str(), id(&commit)), (&fixture.base, id(&other))] {
        let advance = Advance {
            target: &target,
            from,
            to: &commit,
            branch: &branch,
            commit: &published,
        };
        assert!(!repository.advance(&advance).unwrap(), "{from} {published}");
        assert_eq!(fixture.tip("main"), fixture.base);
    }
}

#[test]
fn a_failed_write_is_retryable() {
    let fixture = Fixture::bare();
    let commit = fixture.publish("feature", Some(&fixture.base), &[("readme", "new\n")]);
    // A stale lock file, as a machine leaves it behind when it loses power.
    std::fs::write(fixture.repository().join("refs/heads/main.lock"), "").unwrap();
    let error = fixture.merge("feature", &commit).blocking().unwrap_err();
    assert_eq!((error.code(), error.is_retryable()), ("git_unavailable", true));
    assert!(
        !error.message().contains("root"),
        "no path of the machine: {error}"
    );
    assert_eq!(fixture.tip("main"), fixture.base);
}
