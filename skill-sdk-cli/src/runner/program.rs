//! Speaks the protocol with a built program.
//!
//! What a program answers goes through a file: the skills and everything they link may print, and what they print
//! goes to standard error here.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use skill_sdk::host::command::{Failure, exit};
use skill_sdk::host::protocol::{DESCRIBE, Envelope, INVOKE, InvokeReply, InvokeRequest, MARKER, PROTOCOL};
use tempfile::TempDir;

/// What to do when there is no room for the files of an exchange.
const TEMPORARY: &str = "the variable TMPDIR names the directory for temporary files";

/// Asks a program for its skills.
pub(crate) fn describe(program: &Path) -> Result<Envelope, Failure> {
    let exchange = Exchange::new()?;
    let status = exchange.run(program, DESCRIBE, Path::new("-"))?;
    let document: Value = exchange.answer(program, status)?;
    understood(program, document)
}

/// Runs one call.
pub(crate) fn invoke(program: &Path, request: &InvokeRequest) -> Result<InvokeReply, Failure> {
    let exchange = Exchange::new()?;
    let path = exchange.request(request)?;
    let status = exchange.run(program, INVOKE, &path)?;
    exchange.answer(program, status)
}

/// Becomes the host: only an error comes back on Unix, so that signals and the exit code are the host's own.
pub(crate) fn serve(program: &Path, action: &str, request: &impl Serialize) -> Result<u8, Failure> {
    // The host reads the request after this process is gone, and removes it.
    let path = tempfile::Builder::new()
        .prefix("skill-sdk-")
        .suffix(".json")
        .tempfile()
        .and_then(|file| file.into_temp_path().keep().map_err(|error| error.error))
        .map_err(|error| {
            Failure::usage(format!("could not make a temporary file: {error}")).help(TEMPORARY)
        })?;
    let mut command = Command::new(program);
    command.arg(MARKER).arg(action).arg(&path).arg("-");
    let ended = write_private(&path, request).map(|()| become_program(&mut command));
    // A host that was not started leaves the file.
    drop(fs::remove_file(&path));
    match ended? {
        Ok(status) => Ok(status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(exit::NO)),
        Err(error) => Err(not_started(program, &error)),
    }
}

#[cfg(unix)]
fn become_program(command: &mut Command) -> io::Result<ExitStatus> {
    Err(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn become_program(command: &mut Command) -> io::Result<ExitStatus> {
    command.status()
}

/// A private directory with the two files of one exchange.
struct Exchange {
    directory: TempDir,
}

impl Exchange {
    fn new() -> Result<Self, Failure> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("skill-sdk-");
        // Answers hold the outputs of skills.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let directory = builder.tempdir().map_err(|error| {
            Failure::usage(format!("could not make a temporary directory: {error}")).help(TEMPORARY)
        })?;
        Ok(Self { directory })
    }

    fn request(&self, request: &impl Serialize) -> Result<PathBuf, Failure> {
        let path = self.directory.path().join("request.json");
        write_private(&path, request)?;
        Ok(path)
    }

    fn out(&self) -> PathBuf {
        self.directory.path().join("answer.json")
    }

    fn run(&self, program: &Path, action: &str, request: &Path) -> Result<ExitStatus, Failure> {
        Command::new(program)
            .arg(MARKER)
            .arg(action)
            .arg(request)
            .arg(self.out())
            .stdin(Stdio::null())
            .stdout(io::stderr())
            .status()
            .map_err(|error| not_started(program, &error))
    }

    fn answer<T: DeserializeOwned>(&self, program: &Path, status: ExitStatus) -> Result<T, Failure> {
        let name = program.display();
        let bytes = match fs::read(self.out()) {
            Ok(bytes) if status.success() => bytes,
            _ if !status.success() => {
                return Err(
                    Failure::usage(format!("the program `{name}` failed ({status})")).help(
                        "what it said is above; if it is not a program with skills, let its `main` be \
                     `skill_sdk::host::main()`",
                    ),
                );
            }
            _ => {
                return Err(Failure::usage(format!("the program `{name}` did not answer"))
                    .help("let its `main` be `skill_sdk::host::main()`"));
            }
        };
        serde_json::from_slice(&bytes).map_err(|error| {
            Failure::usage(format!(
                "the program `{name}` gave an answer that is not understood: {error}"
            ))
        })
    }
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

/// Writes a file that only this user can read: it may hold inputs.
fn write_private(path: &Path, document: &impl Serialize) -> Result<(), Failure> {
    let bytes = serde_json::to_vec(document)
        .map_err(|error| Failure::usage(format!("the request cannot be written as JSON: {error}")))?;
    let mut options = File::options();
    options.create(true).truncate(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .and_then(|mut file| file.write_all(&bytes))
        .map_err(|error| Failure::usage(format!("could not write `{}`: {error}", path.display())))
}

fn not_started(program: &Path, error: &io::Error) -> Failure {
    // The error of the system for a program of another machine, or for a file that is none.
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
    fn requests_are_private() {
        use std::os::unix::fs::PermissionsExt;
        let exchange = Exchange::new().unwrap();
        let path = exchange.request(&json!({"a": 1})).unwrap();
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_no_program_says_so() {
        let exchange = Exchange::new().unwrap();
        let path = exchange.request(&json!({})).unwrap();
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
