//! What each command does with a session.

use std::ffi::OsString;
use std::path::Path;
use std::process;

use clap::ArgMatches;
use skill_sdk::host::args::{About, HostCommand, Serve, ToolOptions};
use skill_sdk::host::command::{Failure, export, list, output};
use skill_sdk::host::protocol::SkillEntry;

use crate::cli::{Bridge, Cli, Command, Reach, given};
use crate::runner::{Need, program};
use crate::session::Session;
use crate::{bridge, check, launch, mcp_config, provider};

/// Runs a command and says its exit code.
pub(crate) fn run(cli: &Cli, matches: &ArgMatches) -> Result<u8, Failure> {
    let command = match &cli.command {
        Command::Shared(command) => command,
        Command::McpConfig(About { args, skills: reach }) => {
            let (name, launch) = launch::launch(reach, matches, args.url.is_some())?;
            return mcp_config::print(&name, &launch, args);
        }
        Command::Bridge(Bridge::Python(About { args, skills: reach })) => {
            // Comparing needs no program that can be called.
            let need = if args.check {
                Need::Describe
            } else {
                Need::ServeLocal
            };
            let session = Session::open(reach, need)?;
            let selected = session.selected()?;
            let skills: Vec<&SkillEntry> = selected.iter().map(|selected| selected.skill).collect();
            let program = selected.first().map(|first| first.program.path.as_path());
            let all = reach.targets.is_empty();
            return bridge::python(&skills, all, program.unwrap_or(Path::new("")), args);
        }
    };
    match command {
        HostCommand::List(about) => print_about(&about.skills, |skills| list::list(skills, &about.args)),
        HostCommand::Contract(reach) => print_about(reach, list::contract),
        HostCommand::Export(About { args, skills: reach }) => {
            let session = Session::open(reach, Need::Describe)?;
            let selected = session.selected()?;
            let skills: Vec<&SkillEntry> = selected.into_iter().map(|selected| selected.skill).collect();
            provider::warn(&skills, ToolOptions::default());
            // Only files that seem left over make it necessary to build what was not named.
            let whole = || Ok(Session::open(reach, Need::DescribeAll)?.everything());
            export::export(&skills, &session.everything(), whole, args)
        }
        HostCommand::Check(About { args, skills: reach }) => {
            let session = Session::open(reach, Need::Describe)?;
            // The envelope holds only what the targets name.
            check::check(&session.envelope()?, args, reach.cargo.verbose > 0)
        }
        HostCommand::Invoke(about) => {
            run_program(&about.skills, Need::Invoke, given(&about.args, matches), None)
        }
        HostCommand::Serve(serve) => {
            // Before anything is built.
            if let Some(args) = serve.http() {
                args.check()?;
            }
            let (need, words, tools) = match serve {
                Serve::Http(about) => (Need::ServeHttp, given(&about.args, matches), None),
                Serve::McpStdio(about) => {
                    let tools = about.args.mcp.tools;
                    (Need::ServeMcpStdio, given(&about.args, matches), Some(tools))
                }
                Serve::McpHttp(about) => {
                    let tools = about.args.mcp.tools;
                    (Need::ServeMcpHttp, given(&about.args, matches), Some(tools))
                }
                Serve::Local(about) => (Need::ServeLocal, given(&about.args, matches), None),
            };
            run_program(serve.skills(), need, words, tools)
        }
    }
}

/// Builds one program and becomes it, with the flags that were given and the selected skills.
fn run_program(
    reach: &Reach,
    need: Need,
    words: Vec<OsString>,
    tools: Option<ToolOptions>,
) -> Result<u8, Failure> {
    let session = Session::open(reach, need)?;
    let selected = match need {
        Need::Invoke => vec![session.the_one("invoke")?],
        _ => session.selected()?,
    };
    session.refuse_without(need)?;
    let Some(first) = selected.first() else {
        return Err(Failure::usage("the program has no skill to serve"));
    };
    if let Some(tools) = tools {
        let skills: Vec<&SkillEntry> = selected.iter().map(|selected| selected.skill).collect();
        provider::warn(&skills, tools);
    }
    let mut command = process::Command::new(&first.program.path);
    command.args(need.command()).args(words).arg("--");
    command.args(selected.iter().map(|selected| &selected.skill.reference));
    program::become_program(command)
}

/// A command that only prints what the programs describe.
fn print_about(
    reach: &Reach,
    render: impl FnOnce(&[&SkillEntry]) -> Result<String, Failure>,
) -> Result<u8, Failure> {
    let session = Session::open(reach, Need::Describe)?;
    let selected = session.selected()?;
    let skills: Vec<&SkillEntry> = selected.into_iter().map(|selected| selected.skill).collect();
    output::print(&render(&skills)?)
}
