//! Tests that no name escapes the root or becomes an option.

use serde_json::{Value, json};

use super::fixture::Fixture;
use crate::{BranchName, RepositoryName};

/// Invalid inputs: the field and the value. The other fields are valid.
const TRICKS: &[(&str, &[&str])] = &[
    (
        "repository",
        &[
            "",
            ".",
            "..",
            "../root/team/app.git",
            "team/../team/app.git",
            "/etc",
            "team//app.git",
            "team/",
            "/team",
            "-c",
            "team/-c",
            "team\\app.git",
            "team/.git",
            "team/app.git\n",
            "team/app.git\0",
            "C:app",
            "~",
            "https://example.com/x.git",
            "ext::sh -c true",
            "--upload-pack=true",
        ],
    ),
    (
        "branch",
        &[
            "", "-", "--help", "-d", "a..b", "a b", "a\tb", "a\nb", "a\0b", "a~1", "a^", "a:b", "a?", "a*",
            "a[b", "a\\b", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.LOCK", "a.lock/b", "a.", "@",
            "a@{1}", "a\u{a0}b", "a\u{7f}",
        ],
    ),
    (
        "commit",
        &[
            "",
            "HEAD",
            "main",
            "--all",
            "0123456",
            "A1B2C3D4E5F6A7B8C9D0E1F2A3B4C5D6E7F8A9B0",
            "00000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000\n",
        ],
    ),
];

#[test]
fn unsafe_names_violate_the_input_contract() {
    let fixture = Fixture::bare();
    for (field, tricks) in TRICKS {
        for trick in *tricks {
            assert_rejected(&fixture, field, trick);
        }
    }
    assert_rejected(&fixture, "repository", &"a".repeat(201));
    for trick in TRICKS[1].1 {
        assert_rejected(&fixture, "target", trick);
    }
    assert_eq!(fixture.tip("main"), fixture.base);
}

fn assert_rejected(fixture: &Fixture, field: &str, value: &str) {
    let mut inputs = json!({
        "repository": "team/app.git", "branch": "main", "commit": fixture.base, "target": "main",
    });
    inputs[field] = value.into();
    let error = fixture.call(&inputs).blocking().unwrap_err();
    assert_eq!(error.code(), "input_contract_violation", "{field} {value:?}");
    let path = &error.details().unwrap()["errors"][0]["path"];
    assert_eq!(*path, Value::from(format!("/{field}")), "{value:?}");
}

#[test]
fn the_pattern_accepts_every_valid_name() {
    let fixture = Fixture::bare();
    for name in [
        "main",
        "feature/x-1",
        "a.b",
        "ветка/один",
        "a@b",
        "user=x",
        "#1",
        "a/b/c.d",
        "v1.0+rc",
    ] {
        let name = BranchName::try_from(name.to_owned()).unwrap();
        let error = fixture
            .merge(name.as_str(), &"0".repeat(40))
            .blocking()
            .map(|called| called.outputs);
        // The response says that the branch does not exist, so the name passed validation.
        match error {
            Ok(outputs) => assert_eq!(outputs["reason"], "branch_moved", "{name}"),
            Err(error) => assert_eq!(error.code(), "branch_missing", "{name}"),
        }
    }
    for name in ["a", "a/b", "a.git", "_/0-1.x"] {
        RepositoryName::try_from(name.to_owned()).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn symlinks_do_not_escape_the_root() {
    let fixture = Fixture::bare();
    let outside = Fixture::bare();
    let commit = outside.publish("feature", Some(&outside.base), &[("readme", "new\n")]);
    let ordinary = fixture.root().join("ordinary");
    std::fs::create_dir(&ordinary).unwrap();
    for (link, target) in [
        (fixture.root().join("link"), outside.repository()),
        (ordinary.join(".git"), outside.repository()),
    ] {
        std::os::unix::fs::symlink(target, link).unwrap();
    }
    for repository in ["link", "ordinary"] {
        let inputs =
            json!({"repository": repository, "branch": "feature", "commit": commit, "target": "main"});
        let error = fixture.call(&inputs).blocking().unwrap_err();
        assert_eq!(error.code(), "repository_unknown", "{repository}");
    }
    assert_eq!(outside.tip("main"), outside.base);
}

#[test]
fn a_directory_inside_a_repository_is_not_a_repository() {
    let fixture = Fixture::ordinary();
    std::fs::create_dir(fixture.repository().join("src")).unwrap();
    let inputs = json!({
        "repository": "team/app.git/src", "branch": "main", "commit": fixture.base, "target": "main",
    });
    let error = fixture.call(&inputs).blocking().unwrap_err();
    assert_eq!(error.code(), "repository_unknown");
}
