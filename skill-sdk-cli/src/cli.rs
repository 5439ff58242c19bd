//! The arguments of the tool: clap types only.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Parser, Subcommand};
use skill_sdk::host::args::{About, HostCommand};

use crate::bridge::BridgePythonArgs;
use crate::cargo::CargoArgs;
use crate::check::CheckArgs;
use crate::mcp_config::McpConfigArgs;

/// Lists, checks, runs and hosts the skills of a Rust crate
#[derive(Debug, Parser)]
#[command(name = "skill-sdk", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  good
  1  the answer is no: drift, a violation, a failed call
  2  wrong usage, a build that failed, a configuration that is missing";

const TARGETS: &str = "\
Targets:
  .  crates/acme  acme/Cargo.toml   a package, or all packages of a workspace root
  target/release/acme-skills        a built program with skills
  acme-skills                       a package of the workspace
  git.merge@2  git.merge            a skill, by its ref or its name
  acme_skills.reports:build         a skill, by its entrypoint
  acme_skills::reports              the skills at a Rust path and below it
Without a target: every package of the workspace that depends on skill-sdk.
Paths say where to look, the other targets what to take there.";

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "a program has one")]
pub(crate) enum Command {
    #[command(flatten)]
    Shared(HostCommand<Reach, CheckArgs>),
    /// Print what to write into the configuration of MCP clients
    McpConfig(About<McpConfigArgs, Reach>),
    /// Make skills callable from another language
    #[command(subcommand)]
    Bridge(Bridge),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bridge {
    /// Write Python modules by which an executor finds and calls the skills
    Python(About<BridgePythonArgs, Reach>),
}

/// How to reach skills: the targets, and the flags of the build.
#[derive(Debug, Args)]
#[command(after_help = TARGETS)]
pub(crate) struct Reach {
    /// Packages, directories, built programs or names of skills (see below)
    #[arg(value_name = "TARGETS")]
    pub(crate) targets: Vec<String>,
    #[command(flatten)]
    pub(crate) cargo: CargoArgs,
}

/// The flags of `A` that were given, for a program. It takes the others from its environment and its defaults.
pub(crate) fn given<A: Args>(_: &A, matches: &ArgMatches) -> Vec<OsString> {
    let mut matches = matches;
    while let Some((_, of_command)) = matches.subcommand() {
        matches = of_command;
    }
    let mut words = Vec::new();
    for argument in A::augment_args(clap::Command::new("")).get_arguments() {
        let id = argument.get_id().as_str();
        let (Some(long), Some(ValueSource::CommandLine)) = (argument.get_long(), matches.value_source(id))
        else {
            continue;
        };
        if !argument.get_action().takes_values() {
            words.push(format!("--{long}").into());
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            let mut word = OsString::from(format!("--{long}="));
            word.push(value);
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};

    use skill_sdk::host::args::{About, HostCommand, Serve};

    use super::{Cli, Command, given};
    use crate::provider::Provider;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn providers_are_listed_or_repeated() {
        let parse = |line: &str| Cli::try_parse_from(std::iter::once("skill-sdk").chain(line.split(' ')));
        for (line, expected) in [
            ("check git.merge", &[][..]),
            ("check --provider gemini git.merge", &[Provider::Gemini]),
            (
                "check --provider openai,anthropic git.merge",
                &Provider::value_variants()[..2],
            ),
            (
                "check git.merge --provider openai --provider anthropic",
                &Provider::value_variants()[..2],
            ),
        ] {
            let Ok(Cli {
                command: Command::Shared(HostCommand::Check(About { args, skills: reach })),
            }) = parse(line)
            else {
                panic!("{line} was not understood");
            };
            assert_eq!(
                (args.providers.as_slice(), reach.targets.len()),
                (expected, 1),
                "{line}"
            );
        }
        for line in [
            "check --provider",
            "check --provider mistral",
            "check --provider openai,",
        ] {
            assert_eq!(parse(line).unwrap_err().exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn flags_are_given_to_the_program_as_they_were_given() {
        let line = "skill-sdk serve http --port 0 --allow-anonymous --skill-concurrency 8,a.b=2 --skill-concurrency c=4 \
                    --public-metrics --release git.merge";
        let matches = Cli::command().get_matches_from(line.split(' ').filter(|word| !word.is_empty()));
        let Command::Shared(HostCommand::Serve(Serve::Http(About { args, .. }))) =
            Cli::from_arg_matches(&matches).unwrap().command
        else {
            panic!("it is HTTP");
        };
        assert_eq!(
            given(&args, &matches),
            [
                "--port=0",
                "--allow-anonymous=loopback",
                "--public-metrics",
                "--skill-concurrency=8",
                "--skill-concurrency=a.b=2",
                "--skill-concurrency=c=4"
            ]
        );
    }
}
