//! The arguments of the tool: clap types only.

use clap::{Args, Parser, Subcommand};
use skill_sdk::host::args::{
    ExportArgs, InvokeArgs, ListArgs, ServeHttpArgs, ServeLocalArgs, ServeMcpHttpArgs, ServeMcpStdioArgs,
};

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
pub(crate) enum Command {
    /// List skills, one a line: ref, entrypoint, side effects and risk
    #[command(after_help = TARGETS)]
    List {
        #[command(flatten)]
        args: ListArgs,
        #[command(flatten)]
        reach: Reach,
    },
    /// Print the contract of one skill as JSON
    #[command(after_help = TARGETS)]
    Contract {
        #[command(flatten)]
        reach: Reach,
    },
    /// Write skills into a catalog package, or compare them with its files
    #[command(after_help = TARGETS)]
    Export {
        #[command(flatten)]
        args: ExportArgs,
        #[command(flatten)]
        reach: Reach,
    },
    /// Check skills against the publication rules
    #[command(after_help = TARGETS)]
    Check {
        #[command(flatten)]
        args: CheckArgs,
        #[command(flatten)]
        reach: Reach,
    },
    /// Run one skill and print its outputs and cost, or its error
    #[command(after_help = TARGETS)]
    Invoke {
        #[command(flatten)]
        args: InvokeArgs,
        #[command(flatten)]
        reach: Reach,
    },
    /// Host skills
    #[command(subcommand)]
    Serve(Serve),
    /// Print what to write into the configuration of MCP clients
    #[command(after_help = TARGETS)]
    McpConfig {
        #[command(flatten)]
        args: McpConfigArgs,
        #[command(flatten)]
        reach: Reach,
    },
    /// Make skills callable from another language
    #[command(subcommand)]
    Bridge(Bridge),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bridge {
    /// Write Python modules by which an executor finds and calls the skills
    #[command(after_help = TARGETS)]
    Python {
        #[command(flatten)]
        args: BridgePythonArgs,
        #[command(flatten)]
        reach: Reach,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Serve {
    /// Host skills over HTTP
    #[command(after_help = TARGETS)]
    Http {
        #[command(flatten)]
        args: ServeHttpArgs,
        #[command(flatten)]
        reach: Reach,
    },
    /// Host skills as tools of an MCP server for the client that starts it
    #[command(after_help = TARGETS)]
    McpStdio {
        #[command(flatten)]
        args: ServeMcpStdioArgs,
        #[command(flatten)]
        reach: Reach,
    },
    /// Host skills as tools of an MCP server over streamable HTTP
    #[command(after_help = TARGETS)]
    McpHttp {
        #[command(flatten)]
        args: ServeMcpHttpArgs,
        #[command(flatten)]
        reach: Reach,
    },
    /// Host skills for a program on this machine, as lines of JSON over standard input and output
    #[command(after_help = TARGETS)]
    Local {
        #[command(flatten)]
        args: ServeLocalArgs,
        #[command(flatten)]
        reach: Reach,
    },
}

/// How to reach skills: the targets, and the flags of the build.
#[derive(Debug, Args)]
pub(crate) struct Reach {
    /// Packages, directories, built programs or names of skills (see below)
    #[arg(value_name = "TARGETS")]
    pub(crate) targets: Vec<String>,
    #[command(flatten)]
    pub(crate) cargo: CargoArgs,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::{Cli, Command};
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
            ("check --provider openai,anthropic git.merge", &Provider::ALL[..2]),
            (
                "check git.merge --provider openai --provider anthropic",
                &Provider::ALL[..2],
            ),
        ] {
            let Ok(Cli {
                command: Command::Check { args, reach },
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
}
