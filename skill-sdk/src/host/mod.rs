//! Programs with skills: a binary with the commands of the CLI, for production or as your own.
//!
//! ```no_run
//! // src/bin/skills.rs
//! // use acme_skills as _;    // every crate that declares skills must be named
//!
//! fn main() -> std::process::ExitCode {
//!     skill_sdk::host::main()
//! }
//! ```
//!
//! With the feature `host` the program has every command of the CLI that needs no cargo. The features `http`, `mcp` and
//! `mcp-http` add the servers.
//!
//! Guides: `docs/guides/deploying.md`, `docs/guides/without-the-cli.md`. Reference: `docs/reference/cli.md`.

// For the command line tool alone, as `protocol` is.
#[cfg(feature = "host")]
#[doc(hidden)]
pub mod args;
#[cfg(feature = "host")]
#[doc(hidden)]
pub mod command;
mod describe;
#[cfg(feature = "host")]
mod invoke;
#[cfg(feature = "host")]
mod logging;
#[cfg(feature = "host")]
mod process_group;
#[cfg(feature = "host")]
mod program;
#[doc(hidden)]
pub mod protocol;
#[cfg(feature = "host")]
mod serve;
#[cfg(feature = "host")]
mod signals;
#[cfg(feature = "runtime")]
pub mod stdio;
#[cfg(feature = "telemetry")]
mod telemetry;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the program: reads its arguments, does what they say, gives the exit code.
///
/// The exit codes are 0 for success, 1 for a negative result (drift, a violation, a failed call), and 2 for
/// wrong usage or a configuration that is missing.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().collect();
    if let [_, marker, out] = arguments.as_slice()
        && marker == protocol::DESCRIBE
    {
        return match describe::write(out) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => fail(&error),
        };
    }
    #[cfg(feature = "host")]
    {
        program::main(arguments)
    }
    #[cfg(not(feature = "host"))]
    {
        fail(
            "this program was built without its commands\nhelp: add the feature `host` of skill-sdk (and `http` to \
             serve over HTTP), or use the command line tool `skill-sdk`",
        )
    }
}

fn fail(error: &str) -> ExitCode {
    // Standard error may be closed.
    drop(std::io::Write::write_all(
        &mut std::io::stderr(),
        format!("error: {error}\n").as_bytes(),
    ));
    ExitCode::from(2)
}
