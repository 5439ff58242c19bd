//! Programs with skills: what the command line tool builds and runs, and what runs in production.
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
//! With the feature `host` the program has every command of the tool that needs no cargo; each protocol it can serve is
//! a feature of its own (`http`).

#[cfg(feature = "host")]
pub mod args;
#[cfg(feature = "host")]
pub mod command;
mod describe;
#[cfg(feature = "log")]
mod fields;
#[cfg(feature = "runtime")]
mod invoke;
mod limits;
#[cfg(feature = "log")]
mod logging;
#[cfg(feature = "http")]
mod port;
#[cfg(feature = "runtime")]
mod process_group;
#[cfg(feature = "host")]
mod program;
pub mod protocol;
mod runner;
#[cfg(feature = "runtime")]
mod runtime;
#[cfg(feature = "http")]
mod sample;
#[cfg(feature = "http")]
mod serve;
#[cfg(feature = "runtime")]
mod serve_local;
#[cfg(feature = "mcp")]
mod serve_mcp;
#[cfg(feature = "mcp-http")]
mod serve_mcp_http;
#[cfg(feature = "runtime")]
mod signals;
#[cfg(feature = "runtime")]
pub mod stdio;
#[cfg(feature = "telemetry")]
mod telemetry;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use self::protocol::MARKER;

/// Why a program could not do what it was asked to: one line for people.
type Refusal = String;

/// A program that links no crate with skills.
#[cfg(feature = "runtime")]
const NO_SKILLS: &str = "this program has no skills\n\
                         help: name every crate that declares skills in its main file: `use acme_skills as _;`";

/// The skills of these names, or all of the program when there are none.
#[cfg(feature = "runtime")]
fn chosen(skills: &[String]) -> Result<crate::pipeline::SkillSet, Refusal> {
    let host = crate::pipeline::SkillSet::collect_only(skills).map_err(|error| error.to_string())?;
    if host.iter().len() == 0 {
        return Err(NO_SKILLS.to_owned());
    }
    Ok(host)
}

/// Runs the program: reads its arguments, does what they say, gives the exit code.
///
/// The exit codes are 0 when all is good, 1 when the answer is no (drift, a violation, a failed call), and 2 for
/// wrong usage or a configuration that is missing.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == MARKER) {
        return match runner::act(&arguments[2..]) {
            Ok(code) => code,
            Err(refusal) => refuse(&refusal),
        };
    }
    #[cfg(feature = "host")]
    {
        program::main(arguments)
    }
    #[cfg(not(feature = "host"))]
    {
        refuse(
            "this program was built without its commands\nhelp: add the feature `host` of skill-sdk (and `http` to \
             serve over HTTP), or use the command line tool `skill-sdk`",
        )
    }
}

fn refuse(refusal: &str) -> ExitCode {
    // A standard error that is closed leaves nobody to tell.
    drop(std::io::Write::write_all(
        &mut std::io::stderr(),
        format!("error: {refusal}\n").as_bytes(),
    ));
    ExitCode::from(2)
}
