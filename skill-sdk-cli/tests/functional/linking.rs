//! What must be linked, and what must be said when it is not.

use std::fs;

use super::fixture::{Fixture, dependencies, head, sdk, skill};

#[test]
fn a_dependency_that_no_code_names_is_a_warning() {
    let app = skill("app.one", "1", "one");
    let fixture = Fixture::workspace(
        "unreferenced",
        &[("other-skills", &skill("other.one", "1", "one"))],
    )
    .package(
        "app",
        "hidden = { path = \"../other-skills\", package = \"other-skills\" }\n",
        &app,
    );
    let ran = fixture.run("list app");
    assert_eq!(ran.refs(), ["app.one@1"]);
    assert!(
        ran.err
            .contains("warning: package 'app' depends on 'other-skills'"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("help: write `use hidden as _;`"), "{}", ran.err);

    // Linked by the runner itself: nothing is missing here, but a program of the app's own would lack it.
    let all = fixture.run("list");
    assert_eq!(all.refs(), ["app.one@1", "other.one@1"]);
    assert!(
        all.err
            .contains("a program of its own would not link those skills"),
        "{}",
        all.err
    );

    // Named: a package brings what it links.
    fixture.write("crates/app/src/lib.rs", &format!("use hidden as _;\n{app}"));
    let named = fixture.run("list app");
    assert_eq!(named.refs(), ["app.one@1", "other.one@1"]);
    assert!(!named.err.contains("warning"), "{}", named.err);
}

#[test]
fn the_library_may_be_renamed_and_the_crate_too() {
    let manifest = format!(
        "{}[workspace]\n[lib]\nname = \"other_name\"\ncrate-type = [\"staticlib\", \"lib\"]\n[dependencies]\nsdk = {{ path = '{}', package = \"skill-sdk\" }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nschemars = \"1\"\n",
        head("renamed"),
        sdk().display()
    );
    let said = skill("r.one", "1", "one").replace("risk = \"low\"", "risk = \"low\", crate = sdk");
    let found = skill("r.two", "1", "two");
    let source = format!("{said}{found}").replace("skill_sdk::skill(", "sdk::skill(");
    let fixture = Fixture::new("renamed")
        .file("Cargo.toml", &manifest)
        .file("src/lib.rs", &source);
    for line in ["list", "list renamed", "list other_name"] {
        let ran = fixture.run(line);
        assert_eq!(ran.refs(), ["r.one@1", "r.two@1"], "{line}");
        let warned = "warning: package 'renamed' is also a static library";
        assert!(ran.err.contains(warned), "{}", ran.err);
    }
    assert_eq!(fixture.run("list other_name:one").refs(), ["r.one@1"]);
}

#[test]
fn a_patch_of_the_workspace_holds_for_the_runner() {
    let source = format!("{}const _: () = itoa::PATCHED;\n", skill("p.one", "1", "one"));
    let fixture = Fixture::new("patched")
        .file(
            "Cargo.toml",
            "[workspace]\nresolver = \"2\"\nmembers = [\"crates/*\"]\nexclude = [\"patched\"]\n\
             [patch.crates-io]\nitoa = { path = \"patched\" }\n",
        )
        .file("patched/Cargo.toml", &head("itoa").replace("0.1.0", "1.0.99"))
        .file(
            "patched/src/lib.rs",
            "//! Stands in for another crate.\npub const PATCHED: () = ();\n\
             pub struct Buffer;\nimpl Buffer {\n    pub fn new() -> Self { Self }\n    \
             pub fn format<I: std::fmt::Display>(&mut self, i: I) -> &str {\n        \
             Box::leak(i.to_string().into_boxed_str())\n    }\n}\n",
        )
        .package("skills", "itoa = \"1\"\n", &source);
    assert_eq!(fixture.run("list").refs(), ["p.one@1"]);
}

#[test]
fn a_profile_of_the_workspace_holds_for_the_runner() {
    let source = format!(
        "{}#[cfg(debug_assertions)]\ncompile_error!(\"the profile was not taken over\");\n",
        skill("p.one", "1", "one")
    );
    let fixture = Fixture::new("profile")
        .file(
            "Cargo.toml",
            "[workspace]\nresolver = \"2\"\nmembers = [\"crates/*\"]\n\
             [profile.quick]\ninherits = \"dev\"\ndebug-assertions = false\n",
        )
        .package("skills", "", &source);
    assert_eq!(fixture.run("list --profile quick").refs(), ["p.one@1"]);
    fixture.run("list").fails(
        2,
        &[
            "the profile was not taken over",
            "reproduce with `cargo build -p skills`",
        ],
    );
}

#[test]
fn features_go_to_the_packages() {
    let source = format!(
        "#[cfg(feature = \"more\")]\npub mod more {{\n{}}}\n",
        skill("m.one", "1", "one")
    );
    let by_default = format!(
        "#[cfg(feature = \"base\")]\npub mod base {{\n{}}}\n",
        skill("m.base", "1", "base")
    );
    let features = "[features]\ndefault = [\"base\"]\nbase = []\nmore = []\n";
    let fixture =
        Fixture::workspace("features", &[]).package("skills", features, &format!("{source}{by_default}"));
    for (line, expected) in [
        ("list", vec!["m.base@1"]),
        ("list --features more", vec!["m.base@1", "m.one@1"]),
        ("list -F skills/more --no-default-features", vec!["m.one@1"]),
        ("list --all-features", vec!["m.base@1", "m.one@1"]),
    ] {
        assert_eq!(fixture.run(line).refs(), expected, "{line}");
    }
    fixture.run("list --features less").fails(
        2,
        &["has the feature `less`", "the features of skills are: base, "],
    );
    fixture
        .run("list --no-default-features")
        .fails(2, &["no skills found in 'skills'", "behind a feature"]);
}

#[test]
fn one_ref_declared_twice_is_refused() {
    let twice = format!(
        "{}mod again {{\n{}}}\n",
        skill("t.one", "1", "one"),
        skill("t.one", "1", "two")
    );
    let fixture = Fixture::workspace("twice", &[("skills", &twice)]);
    fixture.run("list").fails(1, &["t.one@1", "src/lib.rs:"]);
}

#[test]
fn a_program_of_the_authors_own_is_used() {
    let manifest = |metadata: &str| {
        format!(
            "{}[features]\nserve = []\n[[bin]]\nname = \"skills\"\npath = \"src/skills.rs\"\n\
             required-features = [\"serve\"]\n[package.metadata.skill-sdk]\n{metadata}\n{}\
             skills-lib = {{ path = \"../skills-lib\" }}\n",
            head("app"),
            dependencies()
        )
    };
    let main = "use skills_lib as _;\nfn main() -> std::process::ExitCode {\n    \
                eprintln!(\"the author's own\");\n    skill_sdk::host::main()\n}\n";
    let fixture = Fixture::workspace("own-program", &[("skills-lib", &skill("l.one", "1", "one"))])
        .file(
            "crates/app/Cargo.toml",
            &manifest("bin = \"skills\"\nfeatures = [\"serve\"]"),
        )
        .file("crates/app/src/skills.rs", main);
    fixture
        .run("list")
        .fails(2, &["Cargo.lock is missing", "run `cargo build` once"]);
    assert!(!fixture.root().join("Cargo.lock").exists());
    assert_eq!(fixture.cargo("generate-lockfile --offline").code, 0);
    for line in ["list", "list app", "list l.one"] {
        let ran = fixture.run(line);
        assert_eq!(ran.refs(), ["l.one@1"], "{line}");
        assert!(ran.err.contains("the author's own"), "{line}: {}", ran.err);
    }
    // It has the features that its author gave it.
    for (line, feature) in [
        ("mcp-config", "mcp"),
        ("serve mcp-stdio", "mcp"),
        ("serve mcp-http --allow-anonymous", "mcp-http"),
    ] {
        let expected = [
            &*format!("was built without the features `host` and `{feature}`"),
            &*format!("features = [\"host\", \"{feature}\"]"),
        ];
        fixture.run(line).fails(2, &expected);
    }

    // A built program needs no cargo, and no workspace.
    let program = fixture
        .target_directory()
        .join("debug")
        .join(format!("skills{}", std::env::consts::EXE_SUFFIX));
    let ran = fixture.run_with(&["list", program.to_str().unwrap(), "l.one@1"], |command| {
        command.current_dir("/").env("CARGO", "/no/such/cargo");
    });
    assert_eq!(ran.refs(), ["l.one@1"]);

    fixture.write("crates/app/Cargo.toml", &manifest("bin = \"other\""));
    fixture
        .run("list")
        .fails(2, &["names the binary `other`", "its binaries are: skills"]);
}

#[test]
fn a_file_that_is_no_program_with_skills() {
    let fixture = Fixture::new("no-program").file("notes.txt", "text");
    fixture
        .run("list ./notes.txt")
        .fails(2, &["could not run", "a built program with skills"]);
    if cfg!(unix) && fs::exists("/bin/true").unwrap() {
        fixture
            .run("list /bin/true")
            .fails(2, &["did not answer", "skill_sdk::host::main()"]);
        fixture.run("list /bin/false").fails(2, &["failed"]);
    }
}
