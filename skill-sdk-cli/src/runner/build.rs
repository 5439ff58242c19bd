//! Runs `cargo build`: quiet while it works, cargo's own words when it fails.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

use serde::Deserialize;
use skill_sdk::host::command::Failure;

use super::progress::Progress;
use super::project::NAME_PREFIX;
use crate::cargo::{self, CargoArgs};

/// The program that a build is about.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) manifest: PathBuf,
    pub(super) bin: String,
}

/// A message of cargo: only the ones about finished artifacts are read.
#[derive(Deserialize)]
struct Message {
    reason: String,
    manifest_path: Option<PathBuf>,
    target: Option<MessageTarget>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct MessageTarget {
    name: String,
    kind: Vec<String>,
}

/// Runs a prepared build and hands back the path of the program.
pub(super) fn run(mut command: Command, wanted: &Wanted, args: &CargoArgs) -> Result<PathBuf, Failure> {
    let shown = args.verbose > 0;
    let progress = Progress::new(shown);
    command.args(["--message-format", "json-render-diagnostics"]);
    if !shown && progress.is_terminal() {
        // Cargo writes into a pipe here, and its words may still end on a terminal.
        command.args(["--color", "always"]);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.stderr(if shown { Stdio::inherit() } else { Stdio::piped() });
    let mut child = command.spawn().map_err(|error| cargo::not_started(&error))?;
    let (lines, arrived) = mpsc::channel();
    let words = child
        .stderr
        .take()
        .map(|stream| thread::spawn(move || collect(stream, &lines)));
    let messages = child
        .stdout
        .take()
        .map(|stream| thread::spawn(move || executables(stream)));
    progress.follow(&arrived);
    let said = words.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let found = messages.and_then(|thread| thread.join().ok()).unwrap_or_default();
    let status = child
        .wait()
        .map_err(|error| Failure::usage(format!("could not wait for cargo: {error}")))?;
    if !status.success() {
        return Err(failed(said, args));
    }
    let path = found.into_iter().rev().find_map(|message| {
        let target = message.target?;
        let ours = message
            .manifest_path
            // Cargo writes it without `..` and links.
            .is_some_and(|path| cargo::same_file(&path, &wanted.manifest))
            && target.name == wanted.bin
            && target.kind.iter().any(|kind| kind == "bin");
        message.executable.filter(|_| ours)
    });
    path.ok_or_else(|| Failure::usage(format!("cargo built no program `{}`", wanted.bin)))
}

/// Reads all of a stream, and sends each line on as it comes.
fn collect(stream: impl Read, lines: &mpsc::Sender<String>) -> String {
    let mut all = String::new();
    let mut reader = BufReader::new(stream);
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
        let line = String::from_utf8_lossy(&bytes).into_owned();
        all.push_str(&line);
        // Nothing is shown when the receiver is gone.
        drop(lines.send(line));
        bytes.clear();
    }
    all
}

fn executables(stream: impl Read) -> Vec<Message> {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines
        .filter_map(|line| serde_json::from_str::<Message>(&line).ok())
        .filter(|message| message.reason == "compiler-artifact" && message.executable.is_some())
        .collect()
}

fn failed(said: String, args: &CargoArgs) -> Failure {
    let plain = anstream::adapter::strip_str(&said).to_string();
    let broken = plain
        .split("could not compile `")
        .nth(1)
        .and_then(|rest| rest.split('`').next());
    let failure = match broken {
        Some(name) if name.starts_with(NAME_PREFIX) => {
            Failure::usage("the packages were built, but the program that links them was not").help(format!(
                "the skill-sdk that the packages use may not fit this tool, which is version {}",
                env!("CARGO_PKG_VERSION")
            ))
        }
        Some(name) => Failure::usage(format!("package `{name}` does not build")).help(format!(
            "this is the build of {name} itself; reproduce with `{}`",
            reproduce(name, args)
        )),
        None if plain.contains("--locked was passed") => {
            Failure::usage("Cargo.lock is missing or needs to be updated")
                .help("run `cargo build` once: this tool never changes the lock file of a workspace")
        }
        None => Failure::usage("cargo could not build the packages"),
    };
    failure.detail(said)
}

fn reproduce(package: &str, args: &CargoArgs) -> String {
    let mut words = vec!["cargo build -p", package];
    if args.release {
        words.push("--release");
    }
    if let Some(profile) = &args.profile {
        words.extend(["--profile", profile]);
    }
    let features: Vec<&str> = args.feature_names().collect();
    let features = features.join(",");
    if !features.is_empty() {
        words.extend(["--features", &features]);
    }
    for (set, flag) in [
        (args.all_features, "--all-features"),
        (args.no_default_features, "--no-default-features"),
    ] {
        if set {
            words.push(flag);
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_build_says_how_to_reproduce_it() {
        let args = CargoArgs {
            release: true,
            features: vec!["a b".to_owned()],
            ..CargoArgs::default()
        };
        for (said, expected) in [
            (
                "\u{1b}[1merror\u{1b}[0m: could not compile `acme` (lib) due to 1 error",
                "help: this is the build of acme itself; reproduce with `cargo build -p acme --release --features a,b`",
            ),
            (
                "error: could not compile `skill-sdk-runner-0` (bin)",
                "may not fit this tool",
            ),
            (
                "error: cannot update the lock file because --locked was passed",
                "run `cargo build` once",
            ),
            ("error: linker trouble", "cargo could not build the packages"),
        ] {
            let failure = failed(said.to_owned(), &args).to_string();
            assert!(failure.contains(expected), "{failure}");
        }
    }

    #[test]
    fn only_artifacts_with_an_executable_count() {
        let stream = r#"{"reason":"compiler-artifact","executable":null}
not json
{"reason":"build-finished","success":true}
{"reason":"compiler-artifact","manifest_path":"/r/Cargo.toml","target":{"name":"r","kind":["bin"]},"executable":"/t/r"}
"#;
        let found = executables(stream.as_bytes());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].executable.as_deref(), Some(std::path::Path::new("/t/r")));
    }
}
