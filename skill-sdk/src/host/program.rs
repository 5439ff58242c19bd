//! The commands of a program with skills.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use super::args::{About, HostCommand, Serve, SkillNames, with_examples};
use super::command::{Failure, check, exit, export, list, output, select};
use super::invoke::invoke;
use super::serve::{no_skills, serve};
use super::{describe, stdio};
use crate::registry::Registry;

/// List, check, export, call and serve the skills of this program
#[derive(Debug, Parser)]
#[command(version = concat!("(built with skill-sdk ", env!("CARGO_PKG_VERSION"), ")"), disable_help_subcommand = true)]
struct Program {
    #[command(subcommand)]
    command: HostCommand<SkillNames>,
}

/// Parses the arguments, runs the command and reports its failure.
pub(super) fn main(arguments: Vec<OsString>) -> ExitCode {
    let path = arguments.first().map(Path::new).and_then(Path::file_stem);
    let name = path.unwrap_or_default().to_string_lossy().into_owned();
    let mut command = with_examples(Program::command(), &name);
    let parsed = command
        .try_get_matches_from_mut(arguments)
        .and_then(|matches| Program::from_arg_matches(&matches));
    let program = match parsed {
        Ok(program) => program,
        Err(error) => {
            // Help goes to standard output and is not a failure.
            drop(error.print());
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::USAGE));
        }
    };
    run(&program.command)
        .unwrap_or_else(|failure| failure.report())
        .into()
}

fn run(command: &HostCommand<SkillNames>) -> Result<u8, Failure> {
    let over_stdio = match command {
        HostCommand::Serve(Serve::McpStdio(_)) => true,
        HostCommand::Serve(Serve::Local(about)) => about.args.socket.is_none(),
        _ => false,
    };
    // Before any code of an author runs, also the code that describes a skill.
    let protocol = over_stdio
        .then(stdio::take)
        .transpose()
        .map_err(|error| Failure::usage(format!("standard output cannot be taken over: {error}")))?;
    // Of skills that are not named by their refs nothing is derived, which takes time and may fail.
    match command {
        HostCommand::Serve(server) if is_exact(server.skills()) => {
            return serve(server, &server.skills().names, protocol);
        }
        HostCommand::Invoke(About { args, skills }) if is_exact(skills) && skills.names.len() == 1 => {
            return invoke(&skills.names[0], args, &mut io::stdin().lock());
        }
        _ => {}
    }
    let envelope = stdio::aside(describe::envelope);
    if envelope.skills.is_empty() && envelope.problems.is_empty() {
        return Err(no_skills());
    }
    if let HostCommand::Check(About { args, skills }) = command {
        return check::report(&envelope, &skills.names)?.print(args.format);
    }
    envelope.usable()?;
    let known = &envelope.skills;
    let selected = |skills: &SkillNames| select::select(known, &skills.names);
    match command {
        HostCommand::Check(_) => Ok(exit::GOOD),
        HostCommand::List(about) => output::print(&list::list(&selected(&about.skills)?, &about.args)?),
        HostCommand::Contract(skills) => output::print(&list::contract(&selected(skills)?)?),
        HostCommand::Export(About { args, skills }) => {
            export::export(&selected(skills)?, known, || Ok(known.clone()), args)
        }
        HostCommand::Invoke(About { args, skills }) => {
            let skill = select::exactly_one(&selected(skills)?, "invoke")?;
            invoke(&skill.reference, args, &mut io::stdin().lock())
        }
        HostCommand::Serve(server) => {
            let selected = selected(server.skills())?;
            // Without names all of the program are served.
            let named = selected.iter().filter(|_| !server.skills().names.is_empty());
            let refs: Vec<String> = named.map(|skill| skill.reference.clone()).collect();
            serve(server, &refs, protocol)
        }
    }
}

/// Whether skills are named, and each of the names is the ref of one.
fn is_exact(skills: &SkillNames) -> bool {
    let known = Registry::references();
    !skills.names.is_empty() && skills.names.iter().all(|name| known.contains(&name.as_str()))
}
