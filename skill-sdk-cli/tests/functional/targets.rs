//! What targets mean.

use super::fixture::{Fixture, dependencies, head, skill};

fn two_packages(name: &str) -> Fixture {
    let nested = format!(
        "{}\nmod inner {{\n{}}}\n",
        skill("a.one", "1", "one"),
        skill("a.two", "2", "two")
    );
    Fixture::workspace(
        name,
        &[("acme-a", &nested), ("acme-b", &skill("b.one", "1", "one"))],
    )
    .file("crates/plain/Cargo.toml", &head("plain"))
    .file("crates/plain/src/lib.rs", "")
}

#[test]
fn every_kind_of_target() {
    let fixture = two_packages("every-kind");
    let list = |targets: &str| {
        let ran = fixture.run(format!("list {targets}").trim_end());
        let refs = ran.refs().join(" ");
        (refs, ran.err)
    };
    for (targets, expected) in [
        ("", "a.one@1 a.two@2 b.one@1"),
        (".", "a.one@1 a.two@2 b.one@1"),
        ("./Cargo.toml", "a.one@1 a.two@2 b.one@1"),
        ("acme-a", "a.one@1 a.two@2"),
        ("acme-a acme-b", "a.one@1 a.two@2 b.one@1"),
        ("crates/acme-b", "b.one@1"),
        ("crates/acme-b/Cargo.toml", "b.one@1"),
        ("crates/acme-b crates/acme-a", "a.one@1 a.two@2 b.one@1"),
        ("a.two@2", "a.two@2"),
        ("a.two", "a.two@2"),
        ("a.two b.one", "a.two@2 b.one@1"),
        ("acme_a.inner:two", "a.two@2"),
        ("acme_a:one", "a.one@1"),
        ("acme_a::inner", "a.two@2"),
        ("acme_a", "a.one@1 a.two@2"),
        (". a.two", "a.two@2"),
        // Skills beside their package are those of it that are meant.
        ("acme-a a.two", "a.two@2"),
        ("a.one acme-a acme-b", "a.one@1 b.one@1"),
        ("acme-a b.one", "a.one@1 a.two@2 b.one@1"),
        ("crates/acme-a a.one", "a.one@1"),
        ("--manifest-path crates/acme-b/Cargo.toml acme-b", "b.one@1"),
    ] {
        let (refs, err) = list(targets);
        assert_eq!(refs, expected, "list {targets}");
        assert!(!err.contains("warning"), "list {targets}: {err}");
    }
}

#[test]
fn what_matches_nothing_lists_what_there_is() {
    let fixture = two_packages("matches-nothing");
    for (line, expected) in [
        (
            "list a.three",
            vec![
                "no target matches `a.three`",
                "acme-a, acme-b",
                "a.one@1, a.two@2, b.one@1",
            ],
        ),
        ("list a.two@1", vec!["no target matches `a.two@1`", "a.two@2"]),
        (
            "list acme_a::nowhere",
            vec!["no target matches", "a.one@1, a.two@2"],
        ),
        (
            "list crates/acme-a b.one",
            vec!["no target matches `b.one`", "a.one@1, a.two@2"],
        ),
        (
            "list plain",
            vec!["package 'plain' does not depend on skill-sdk", "acme-a, acme-b"],
        ),
        (
            "list crates/plain",
            vec!["package 'plain' does not depend on skill-sdk", "acme-a, acme-b"],
        ),
        (
            "list ./nowhere",
            vec!["no file or directory is called `./nowhere`"],
        ),
        ("list crates/", vec!["holds no Cargo.toml"]),
        (
            "list --manifest-path nowhere/Cargo.toml",
            vec!["error: ", "help: "],
        ),
        (
            "contract",
            vec![
                "`contract` is about exactly one skill, and 3 were selected",
                "a.one@1, a.two@2, b.one@1",
            ],
        ),
    ] {
        fixture.run(line).fails(2, &expected);
    }
}

#[test]
fn a_workspace_without_users_of_the_library_says_so() {
    let fixture = Fixture::new("no-users")
        .file("Cargo.toml", &format!("{}[workspace]\n", head("plain")))
        .file("src/lib.rs", "");
    fixture.run("list").fails(
        2,
        &[
            "depends on skill-sdk",
            "the packages are: plain",
            "cargo add skill-sdk",
        ],
    );
}

#[test]
fn a_package_without_skills_names_the_likely_causes() {
    let fixture = Fixture::workspace(
        "no-skills",
        &[("empty", ""), ("full", &skill("f.one", "1", "one"))],
    );
    let causes = [
        "no skills found in 'empty'",
        "declared itself, with `mod`",
        "`use other_crate as _;`",
        "feature",
    ];
    fixture.run("list empty").fails(2, &causes);
    assert_eq!(fixture.run("list").refs(), ["f.one@1"]);
}

#[test]
fn packages_that_cannot_be_linked_are_told_before_the_build() {
    let broken = "compile_error!(\"this must not be built\");\n";
    let cdylib = format!(
        "{}[lib]\ncrate-type = [\"cdylib\"]\n{}",
        head("foreign"),
        dependencies()
    );
    let fixture = Fixture::workspace("unlinkable", &[("skills", &skill("s.one", "1", "one"))])
        .file(
            "crates/app/Cargo.toml",
            &format!("{}{}", head("app"), dependencies()),
        )
        .file("crates/app/src/main.rs", broken)
        .file("crates/foreign/Cargo.toml", &cdylib)
        .file("crates/foreign/src/lib.rs", broken);
    fixture.run("list app").fails(
        2,
        &[
            "error: package 'app' has only a binary target, so its skills cannot be linked into a runner",
            "help: move the skills to src/lib.rs, or call `skill_sdk::host::main()` from main and set \
             `[package.metadata.skill-sdk] bin = \"app\"`",
        ],
    );
    fixture
        .run("list foreign")
        .fails(2, &["[\"cdylib\"] only", "`crate-type = [\"cdylib\", \"lib\"]`"]);
    let all = fixture.run("list");
    assert_eq!(all.refs(), ["s.one@1"]);
    assert!(
        all.err.contains("package `app` is left out") && all.err.contains("package `foreign` is left out")
    );
}

#[test]
fn two_workspaces_are_listed_together_and_not_served() {
    let first = Fixture::workspace("ws-first", &[("first", &skill("f.one", "1", "one"))]);
    let second = Fixture::workspace("ws-second", &[("second", &skill("s.one", "1", "one"))]);
    let other = second.root().to_str().unwrap();
    assert_eq!(
        first.run(&format!("list . {other}")).refs(),
        ["f.one@1", "s.one@1"]
    );
    first
        .run(&format!("serve http . {other} --allow-anonymous"))
        .fails(2, &["the targets are of several", "use the_crate as _;"]);
}

#[test]
fn a_place_without_a_workspace_around_it() {
    let fixture = two_packages("outside");
    let root = fixture.root().to_str().unwrap().to_owned();
    let outside = |arguments: &[&str]| {
        fixture.run_with(arguments, |command| {
            command.current_dir("/");
        })
    };
    assert_eq!(outside(&["list", &root, "acme-b"]).refs(), ["b.one@1"]);
    outside(&["list"]).fails(
        2,
        &["could not find `Cargo.toml`", "help: run in a cargo workspace"],
    );
}
