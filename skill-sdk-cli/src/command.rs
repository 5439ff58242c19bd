//! What each command does with a session.

use std::io;
use std::path::Path;

use serde::Serialize;
use skill_sdk::host::command::{self, Failure, exit, output};
use skill_sdk::host::protocol::{self, SkillEntry};

use crate::cli::{Bridge, Cli, Command, Reach, Serve};
use crate::runner::{Need, program};
use crate::session::{Selected, Session};
use crate::{bridge, check, launch, mcp_config};

/// Runs a command and says its exit code.
pub(crate) fn run(cli: &Cli) -> Result<u8, Failure> {
    match &cli.command {
        Command::List { args, reach } => print_about(reach, |skills| command::list::list(skills, args)),
        Command::Contract { reach } => print_about(reach, command::contract::contract),
        Command::Export { args, reach } => {
            let session = Session::open(reach, Need::Describe)?;
            let selected = session.selected()?;
            let skills: Vec<&SkillEntry> = selected.into_iter().map(|selected| selected.skill).collect();
            // Only files that seem left over make it necessary to build what was not named.
            let whole = || Ok(Session::open(reach, Need::DescribeAll)?.everything());
            command::export::export(&skills, &session.everything(), whole, args)
        }
        Command::Check { args, reach } => {
            let session = Session::open(reach, Need::Describe)?;
            // The envelope holds only what the targets name.
            check::check(&session.envelope()?, args)
        }
        Command::Invoke { args, reach } => {
            let session = Session::open(reach, Need::Invoke)?;
            let Selected { program, skill } = session.the_one("invoke")?;
            let request = command::invoke::request(skill, args, &mut io::stdin())?;
            command::invoke::finish(&program::invoke(&program.path, &request)?)
        }
        Command::McpConfig { args, reach } => {
            let (name, launch) = launch::launch(reach, args.url.is_some())?;
            mcp_config::print(&name, &launch, args)?;
            Ok(exit::GOOD)
        }
        Command::Bridge(Bridge::Python { args, reach }) => {
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
            bridge::python(&skills, all, program.unwrap_or(Path::new("")), args)
        }
        Command::Serve(Serve::Http { args, reach }) => {
            command::serve::check(args)?;
            serve(reach, Need::ServeHttp, protocol::SERVE_HTTP, |refs| {
                command::serve::http(args, refs)
            })
        }
        Command::Serve(Serve::McpStdio { args, reach }) => {
            serve(reach, Need::ServeMcpStdio, protocol::SERVE_MCP_STDIO, |refs| {
                command::serve::mcp_stdio(args, refs)
            })
        }
        Command::Serve(Serve::McpHttp { args, reach }) => {
            command::serve::check(&args.http)?;
            serve(reach, Need::ServeMcpHttp, protocol::SERVE_MCP_HTTP, |refs| {
                command::serve::mcp_http(args, refs)
            })
        }
        Command::Serve(Serve::Local { args, reach }) => {
            serve(reach, Need::ServeLocal, protocol::SERVE_LOCAL, |refs| {
                command::serve::local(args, refs)
            })
        }
    }
}

/// Builds one program and becomes it, with the request for the selected skills.
fn serve<R: Serialize>(
    reach: &Reach,
    need: Need,
    action: &str,
    request: impl FnOnce(Vec<String>) -> R,
) -> Result<u8, Failure> {
    let session = Session::open(reach, need)?;
    let selected = session.selected()?;
    session.refuse_without(action)?;
    let refs = selected
        .iter()
        .map(|selected| selected.skill.reference.clone())
        .collect();
    let Some(first) = selected.first() else {
        return Err(Failure::usage("there is no skill to serve"));
    };
    program::serve(&first.program.path, action, &request(refs))
}

/// A command that only prints what the programs describe.
fn print_about(
    reach: &Reach,
    render: impl FnOnce(&[&SkillEntry]) -> Result<String, Failure>,
) -> Result<u8, Failure> {
    let session = Session::open(reach, Need::Describe)?;
    let selected = session.selected()?;
    let skills: Vec<&SkillEntry> = selected.into_iter().map(|selected| selected.skill).collect();
    output::print(&render(&skills)?)?;
    Ok(exit::GOOD)
}
