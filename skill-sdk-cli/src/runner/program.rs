//! Runs a built program with skills.
//!
//! What a program says of its skills goes through a file: the skills and everything they link may print, and what they print
//! goes to standard error here.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use serde_json::Value;
use skill_sdk::host::command::{Failure, exit};
use skill_sdk::host::protocol::{DESCRIBE, Envelope, PROTOCOL};

/// Asks a program for its skills.
pub(crate) fn describe(program: &Path) -> Result<Envelope, Failure> {
    let directory = tempfile::Builder::new().prefix("skill-sdk-").tempdir();
    let directory = directory.map_err(|error| {
        Failure::usage(format!("could not make a temporary directory: {error}"))
            .help("the variable TMPDIR names the directory for temporary files")
    })?;
    let out = directory.path().join("skills.json");
    let mut command = Command::new(program);
    command.arg(DESCRIBE).arg(&out);
    let status = command
        .stdin(Stdio::null())
        .stdout(io::stderr())
        .status()
        .map_err(|error| not_started(program, &error))?;
    let name = program.display();
    if !status.success() {
        return Err(
            Failure::usage(format!("the program `{name}` failed ({status})")).help(
                "what it said is above; if it is not a program with skills, let its `main` be \
                 `skill_sdk::host::main()`",
            ),
        );
    }
    let answer = fs::read(out).map_err(|_| {
        Failure::usage(format!("the program `{name}` did not answer"))
            .help("let its `main` be `skill_sdk::host::main()`")
    })?;
    let document = serde_json::from_slice(&answer).map_err(|error| {
        Failure::usage(format!(
            "the program `{name}` gave an answer that is not understood: {error}"
        ))
    })?;
    understood(program, document)
}

/// Becomes the program: only an error comes back on Unix, so that signals and the exit code are the program's own.
pub(crate) fn become_program(mut command: Command) -> Result<u8, Failure> {
    #[cfg(unix)]
    let ended: io::Result<ExitStatus> = Err(std::os::unix::process::CommandExt::exec(&mut command));
    #[cfg(not(unix))]
    let ended: io::Result<ExitStatus> = command.status();
    let status = ended.map_err(|error| not_started(Path::new(command.get_program()), &error))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.unwrap_or(exit::NO))
}

/// Reads an envelope, but its protocol number first: the rest of another protocol may be anything.
fn understood(program: &Path, document: Value) -> Result<Envelope, Failure> {
    let name = program.display();
    let sdk = document
        .get("sdk")
        .and_then(Value::as_str)
        .unwrap_or("unknown")
        .to_owned();
    let spoken = document.get("protocol").and_then(Value::as_u64);
    if spoken != Some(u64::from(PROTOCOL)) {
        let spoken_text = spoken.map_or_else(|| "none".to_owned(), |number| number.to_string());
        let failure = Failure::usage(format!(
            "the program speaks protocol {spoken_text} (skill-sdk {sdk}), and this tool speaks protocol {PROTOCOL} \
             (skill-sdk {})",
            env!("CARGO_PKG_VERSION")
        ));
        return Err(if spoken.is_some_and(|number| number > u64::from(PROTOCOL)) {
            failure.help(format!(
                "upgrade this tool: `cargo install skill-sdk-cli --version {sdk}`"
            ))
        } else {
            failure.help(
                "upgrade skill-sdk in the package: `cargo update -p skill-sdk`, and build the program again",
            )
        });
    }
    serde_json::from_value(document).map_err(|error| {
        Failure::usage(format!(
            "the program `{name}` described its skills in a way that is not understood: {error}"
        ))
        .help(format!(
            "it was built with skill-sdk {sdk}, and this tool is {}",
            env!("CARGO_PKG_VERSION")
        ))
    })
}

fn not_started(program: &Path, error: &io::Error) -> Failure {
    // The error of the system for a program of another machine, or for a file that is not a program.
    const NOT_A_PROGRAM: i32 = 8;
    let failure = Failure::usage(format!("could not run `{}`: {error}", program.display()));
    if cfg!(unix) && error.raw_os_error() == Some(NOT_A_PROGRAM) {
        return failure.help("it is not a program of this machine; build for this machine with --target");
    }
    if error.kind() == io::ErrorKind::PermissionDenied {
        return failure.help("a target that is a file must be a built program with skills, or a Cargo.toml");
    }
    failure
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_protocol_number_says_which_side_to_upgrade() {
        for (document, expected) in [
            (
                json!({"protocol": 2, "sdk": "9.1.0", "anything": true}),
                "cargo install skill-sdk-cli --version 9.1.0",
            ),
            (
                json!({"protocol": 0, "sdk": "0.0.1"}),
                "cargo update -p skill-sdk",
            ),
            (json!({"skills": []}), "protocol none"),
            (json!([]), "protocol none"),
            (
                json!({"protocol": 1, "sdk": "0.1.0", "skills": 3}),
                "not understood",
            ),
        ] {
            let failure = understood(Path::new("app"), document).unwrap_err().to_string();
            assert!(failure.contains(expected), "{failure}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_no_program_says_so() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text.json");
        fs::write(&path, "{}").unwrap();
        assert!(
            describe(&path)
                .unwrap_err()
                .to_string()
                .contains("must be a built program")
        );
        assert!(
            describe(Path::new("/bin/true"))
                .unwrap_err()
                .to_string()
                .contains("did not answer")
        );
        assert!(
            describe(Path::new("/bin/false"))
                .unwrap_err()
                .to_string()
                .contains("failed")
        );
    }
}
