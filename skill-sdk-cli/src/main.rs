//! The CLI `skill-sdk`: finds the skills of a Rust crate, and lists, checks, exports, calls and serves them.
//!
//! ```text
//! cli      the arguments
//! command  what each command does with a session
//! check    the publication rules, and what model providers reject
//! provider the rules of model providers
//! bridge   modules by which an executor in another language finds and calls the skills
//! mcp_config  what MCP clients are told
//! launch   how another program starts the skills
//! session  targets -> programs -> the skills they describe -> the selected ones
//! target   what TARGETS mean: places, packages, programs, names of skills
//! runner   a program that links the packages: written, locked, built, asked
//! cargo    every call of cargo
//! ```

mod bridge;
mod cargo;
mod check;
mod cli;
mod command;
mod launch;
mod mcp_config;
mod provider;
mod runner;
#[cfg(test)]
mod sample;
mod session;
mod target;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use skill_sdk::host::args::with_examples;

fn main() -> ExitCode {
    // Wrong usage ends inside of clap, with the same exit code as `exit::USAGE`.
    let matches = with_examples(cli::Cli::command(), "skill-sdk").get_matches();
    let cli = cli::Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    ExitCode::from(command::run(&cli, &matches).unwrap_or_else(|failure| failure.report()))
}
