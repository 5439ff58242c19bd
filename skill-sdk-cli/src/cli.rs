//! The arguments of the CLI: clap types only.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Parser, Subcommand};
use skill_sdk::host::args::{About, HostCommand};

use crate::bridge::BridgePythonArgs;
use crate::cargo::CargoArgs;
use crate::check::CheckArgs;
use crate::mcp_config::McpConfigArgs;

/// List, check, export, call and serve the skills of a Rust crate
#[derive(Debug, Parser)]
#[command(name = "skill-sdk", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  drift, a violation, or a failed call
  2  wrong usage, a failed build, or a missing configuration";

const TARGETS: &str = "\
Targets:
  .  crates/acme  acme/Cargo.toml   a package, or all packages of a workspace root
  target/release/acme-skills        a built binary with skills
  acme-skills                       a package of the workspace
  git.merge@2  git.merge            a skill, by its ref or its name
  acme_skills.reports:build         a skill, by its entrypoint
  acme_skills::reports              the skills at a Rust path and below it
Without a target: every package of the workspace that depends on skill-sdk.
A path selects packages; any other target selects skills.

Cargo options, with the same meaning as for `cargo build`:
  --release, --profile, --features, --all-features, --no-default-features, --target, --locked,
  --offline, --frozen, --target-dir, --manifest-path, --config, --jobs, --verbose";

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "a program has one")]
pub(crate) enum Command {
    #[command(flatten)]
    Shared(HostCommand<Reach, CheckArgs>),
    /// Print the configuration of MCP clients
    McpConfig(About<McpConfigArgs, Reach>),
    /// Make skills callable from another language
    #[command(subcommand)]
    Bridge(Bridge),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bridge {
    /// Write Python modules through which an executor finds and calls the skills
    Python(About<BridgePythonArgs, Reach>),
}

/// How to reach skills: the targets, and the flags of the build.
#[derive(Debug, Args)]
#[command(after_help = TARGETS)]
pub(crate) struct Reach {
    /// Packages, directories, built binaries or skills (see below)
    #[arg(value_name = "TARGETS", help_heading = None::<&'static str>)]
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

    use clap::Args;
    use skill_sdk::host::args::{About, HostCommand, Serve, with_examples};

    use super::{Cli, Command, TARGETS, given};
    use crate::cargo::CargoArgs;
    use crate::provider::Provider;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_names_every_cargo_option_and_shows_examples_that_parse() {
        let cargo = CargoArgs::augment_args(clap::Command::new(""));
        for argument in cargo.get_arguments() {
            assert!(argument.is_hide_set(), "{argument}");
            assert!(
                TARGETS.contains(&format!("--{}", argument.get_long().unwrap())),
                "{argument}"
            );
        }
        let mut pages = vec![with_examples(Cli::command(), "skill-sdk")];
        while let Some(mut page) = pages.pop() {
            let help = page.render_long_help().to_string();
            let lines: Vec<&str> = help
                .lines()
                .filter_map(|line| line.strip_prefix("  skill-sdk "))
                .collect();
            assert!(!lines.is_empty() || page.get_name() == "help", "{help}");
            for line in lines {
                // The inputs are one word.
                let words = line.replace("\": [", "\":[").replace(", 250", ",250");
                let parsed = Cli::try_parse_from(format!("skill-sdk {words}").split(' '));
                assert!(parsed.is_ok(), "{line}");
            }
            pages.extend(page.get_subcommands().cloned());
        }
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
