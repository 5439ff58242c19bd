//! Small workspaces on disk, and the real tool run in them.
//!
//! All of them share one target directory, so that the library is built once; the directories are the same in each
//! run, so that a second run finds nearly everything built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A workspace of a test.
pub(crate) struct Fixture {
    root: PathBuf,
    target: PathBuf,
}

/// What the tool did.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Fixture {
    /// An empty workspace; `name` is unique among the tests.
    pub(crate) fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures").join(name);
        if root.exists() {
            fs::remove_dir_all(&root).unwrap();
        }
        fs::create_dir_all(&root).unwrap();
        Self {
            root,
            target: Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared"),
        }
    }

    /// A workspace with the packages `crates/NAME`, each a library with the given source.
    pub(crate) fn workspace(name: &str, packages: &[(&str, &str)]) -> Self {
        let fixture = Self::new(name).file(
            "Cargo.toml",
            "[workspace]\nresolver = \"2\"\nmembers = [\"crates/*\"]\n",
        );
        packages.iter().fold(fixture, |fixture, (name, source)| {
            fixture.package(name, "", source)
        })
    }

    /// Adds a library package; `more` is the rest of its manifest, beginning inside of `[dependencies]`.
    pub(crate) fn package(self, name: &str, more: &str, source: &str) -> Self {
        let manifest = format!("{}{}{more}", head(name), dependencies());
        self.file(&format!("crates/{name}/Cargo.toml"), &manifest)
            .file(&format!("crates/{name}/src/lib.rs"), source)
    }

    /// Writes a file.
    pub(crate) fn file(self, path: &str, text: &str) -> Self {
        self.write(path, text);
        self
    }

    /// Writes a file of a fixture that was used already.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn target_directory(&self) -> &Path {
        &self.target
    }

    /// Runs the tool in the root of the workspace.
    pub(crate) fn run(&self, line: &str) -> Ran {
        self.run_with(&line.split(' ').collect::<Vec<_>>(), |_| {})
    }

    /// Runs the tool with arguments as they are, and a changed command.
    pub(crate) fn run_with(&self, arguments: &[&str], change: impl FnOnce(&mut Command)) -> Ran {
        let mut command = self.command(arguments);
        change(&mut command);
        ran(&command.output().unwrap())
    }

    /// The tool, ready to run in the root of the workspace.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skill-sdk"));
        command
            .current_dir(&self.root)
            .args(arguments)
            .env("CARGO_TARGET_DIR", &self.target);
        for name in ["CARGO_BUILD_TARGET", "RUSTFLAGS", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        // Small programs build fast and stay small.
        command
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_INCREMENTAL", "0");
        command
    }

    /// Runs cargo in the root of the workspace.
    pub(crate) fn cargo(&self, line: &str) -> Ran {
        let mut command = Command::new("cargo");
        command
            .current_dir(&self.root)
            .args(line.split(' '))
            .env("CARGO_TARGET_DIR", &self.target);
        ran(&command.output().unwrap())
    }

    /// Every file of the workspace with its bytes.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut found, mut next) = (Vec::new(), vec![self.root.clone()]);
        while let Some(directory) = next.pop() {
            for entry in fs::read_dir(directory).unwrap().flatten() {
                let path = entry.path();
                if path.is_dir() {
                    next.push(path);
                } else {
                    found.push((path.clone(), fs::read(path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }
}

impl Ran {
    /// The refs that `list` printed; the tool must have succeeded.
    pub(crate) fn refs(&self) -> Vec<&str> {
        assert_eq!(self.code, 0, "{}", self.err);
        self.out
            .lines()
            .filter_map(|line| line.split('\t').next())
            .collect()
    }

    /// Checks the exit code and a part of standard error.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, expected: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        for part in expected {
            assert!(self.err.contains(part), "`{part}` is not in:\n{}", self.err);
        }
        assert!(
            !self.err.contains("RUST_BACKTRACE") && !self.err.contains("panicked"),
            "{}",
            self.err
        );
    }
}

/// The head of a manifest.
pub(crate) fn head(name: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n")
}

/// The dependencies that a package with skills has.
pub(crate) fn dependencies() -> String {
    format!(
        "[dependencies]\nskill-sdk = {{ path = '{}' }}\n\
         serde = {{ version = \"1\", features = [\"derive\"] }}\nschemars = \"1\"\n",
        sdk().display()
    )
}

/// The directory of the library.
pub(crate) fn sdk() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("skill-sdk")
}

/// The source of one skill.
pub(crate) fn skill(name: &str, version: &str, function: &str) -> String {
    let types: String = function
        .split('_')
        .map(|word| word[..1].to_uppercase() + &word[1..])
        .collect();
    format!(
        "#[derive(serde::Serialize, schemars::JsonSchema)]\npub struct {types}Out {{ pub text: String }}\n\n\
         /// Says something back.\n\
         #[skill_sdk::skill(\"{name}\", version = \"{version}\", side_effects = \"none\", risk = \"low\")]\n\
         pub fn {function}(text: String) -> {types}Out {{\n    {types}Out {{ text }}\n}}\n"
    )
}

fn ran(output: &Output) -> Ran {
    Ran {
        code: output.status.code().unwrap(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
