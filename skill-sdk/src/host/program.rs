//! The commands of a program with skills.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use clap::Parser;

use super::args::{HostCommand, HostServe, SkillNames};
use super::command::{self, Failure, check, contract, export, list, output, select};
use super::protocol::Envelope;
use super::{describe, invoke, stdio};

/// A program with skills
#[derive(Debug, Parser)]
#[command(version = concat!("(built with skill-sdk ", env!("CARGO_PKG_VERSION"), ")"), disable_help_subcommand = true)]
struct Program {
    #[command(subcommand)]
    command: HostCommand,
}

/// Parses the arguments, runs the command and reports its failure.
pub(super) fn main(arguments: Vec<OsString>) -> ExitCode {
    let program = match Program::try_parse_from(arguments) {
        Ok(program) => program,
        Err(error) => {
            // Help goes to standard output and is no failure.
            drop(error.print());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(command::exit::USAGE));
        }
    };
    match run(&program.command) {
        Ok(code) => code,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.code())
        }
    }
}

fn run(command: &HostCommand) -> Result<ExitCode, Failure> {
    // Describing skills runs code of their authors, which may print.
    let over_stdio = match command {
        HostCommand::Serve(HostServe::McpStdio { .. }) => true,
        HostCommand::Serve(HostServe::Local { args, .. }) => args.socket.is_none(),
        _ => false,
    };
    if over_stdio {
        stdio::take_early().map_err(|refusal| refused(&refusal))?;
    }
    let envelope = stdio::aside(describe::envelope);
    if envelope.skills.is_empty() && envelope.problems.is_empty() {
        return Err(refused(super::NO_SKILLS));
    }
    if let HostCommand::Check { args, skills } = command {
        return check::check(&envelope, &skills.names, args).map(ExitCode::from);
    }
    command::problems::refuse(&envelope)?;
    let selected = |skills: &SkillNames| select::select(&envelope.skills, &skills.names);
    match command {
        HostCommand::List { args, skills } => {
            output::print(&list::list(&selected(skills)?, args)?)?;
        }
        HostCommand::Contract { skills } => output::print(&contract::contract(&selected(skills)?)?)?,
        HostCommand::Export { args, skills } => {
            return export::export(
                &selected(skills)?,
                &envelope.skills,
                || Ok(envelope.skills.clone()),
                args,
            )
            .map(ExitCode::from);
        }
        HostCommand::Check { .. } => {}
        HostCommand::Invoke { args, skills } => {
            let selected = selected(skills)?;
            let skill = select::exactly_one(&selected, "invoke")?;
            let request = command::invoke::request(skill, args, &mut io::stdin().lock())?;
            let reply = stdio::aside(|| invoke::reply(request)).map_err(|refusal| refused(&refusal))?;
            return command::invoke::finish(&reply).map(ExitCode::from);
        }
        HostCommand::Serve(HostServe::Http { args, skills }) => return serve_http(&envelope, args, skills),
        HostCommand::Serve(HostServe::McpStdio { args, skills }) => {
            return serve_mcp_stdio(&envelope, args, skills);
        }
        HostCommand::Serve(HostServe::McpHttp { args, skills }) => {
            return serve_mcp_http(&envelope, args, skills);
        }
        HostCommand::Serve(HostServe::Local { args, skills }) => {
            let request = command::serve::local(args, references(&envelope, skills)?);
            return super::serve_local::local(&request).map_err(|refusal| refused(&refusal));
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "http")]
fn serve_http(
    envelope: &Envelope,
    args: &super::args::ServeHttpArgs,
    skills: &SkillNames,
) -> Result<ExitCode, Failure> {
    command::serve::check(args)?;
    let references = references(envelope, skills)?;
    super::serve::http(&command::serve::http(args, references)).map_err(|refusal| refused(&refusal))
}

#[cfg(not(feature = "http"))]
fn serve_http(_: &Envelope, _: &super::args::ServeHttpArgs, _: &SkillNames) -> Result<ExitCode, Failure> {
    Err(without("http"))
}

#[cfg(feature = "mcp")]
fn serve_mcp_stdio(
    envelope: &Envelope,
    args: &super::args::ServeMcpStdioArgs,
    skills: &SkillNames,
) -> Result<ExitCode, Failure> {
    let request = command::serve::mcp_stdio(args, references(envelope, skills)?);
    super::serve_mcp::stdio(|| Ok(request)).map_err(|refusal| refused(&refusal))
}

#[cfg(feature = "mcp-http")]
fn serve_mcp_http(
    envelope: &Envelope,
    args: &super::args::ServeMcpHttpArgs,
    skills: &SkillNames,
) -> Result<ExitCode, Failure> {
    command::serve::check(&args.http)?;
    let request = command::serve::mcp_http(args, references(envelope, skills)?);
    super::serve_mcp_http::http(&request).map_err(|refusal| refused(&refusal))
}

#[cfg(not(feature = "mcp"))]
fn serve_mcp_stdio(
    _: &Envelope,
    _: &super::args::ServeMcpStdioArgs,
    _: &SkillNames,
) -> Result<ExitCode, Failure> {
    Err(without("mcp"))
}

#[cfg(not(feature = "mcp-http"))]
fn serve_mcp_http(
    _: &Envelope,
    _: &super::args::ServeMcpHttpArgs,
    _: &SkillNames,
) -> Result<ExitCode, Failure> {
    Err(without("mcp-http"))
}

#[cfg(not(feature = "mcp-http"))]
fn without(feature: &str) -> Failure {
    Failure::usage(format!(
        "this program was built without the feature `{feature}` of skill-sdk"
    ))
    .help(format!(
        "add it: skill-sdk = {{ features = [\"host\", \"{feature}\"] }}"
    ))
}

/// The refs of the skills that are named; none: all of the program.
fn references(envelope: &Envelope, skills: &SkillNames) -> Result<Vec<String>, Failure> {
    let selected = select::select(&envelope.skills, &skills.names)?;
    if skills.names.is_empty() {
        return Ok(Vec::new());
    }
    Ok(selected
        .into_iter()
        .map(|skill| skill.reference.clone())
        .collect())
}

/// A refusal as a failure: its first line says what is wrong, lines with `help: ` what to do.
fn refused(refusal: &str) -> Failure {
    let (help, message): (Vec<_>, Vec<_>) = refusal.lines().partition(|line| line.starts_with("help: "));
    let failure = Failure::usage(message.join("\n"));
    help.into_iter().fold(failure, |failure, line| {
        failure.help(line.trim_start_matches("help: "))
    })
}
