//! How another program starts the skills: by their own program, or by this tool, which builds them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::ArgMatches;
use skill_sdk::host::args::ToolOptions;
use skill_sdk::host::command::Failure;
use skill_sdk::host::protocol::SkillEntry;

use crate::cargo::{self, CargoArgs, absolute, config};
use crate::cli::{Reach, given};
use crate::mcp_config::Launch;
use crate::provider;
use crate::runner::Need;
use crate::session::Session;
use crate::target::Workspace;

/// The name of skills of no one package.
const ANY: &str = "skills";

/// A name for the skills that the targets name, and how an MCP client starts them; with `elsewhere` the client does not start them.
pub(crate) fn launch(
    reach: &Reach,
    matches: &ArgMatches,
    elsewhere: bool,
) -> Result<(String, Launch), Failure> {
    if elsewhere && reach.targets.is_empty() {
        // There need be no sources here.
        return Ok((ANY.to_owned(), Launch::default()));
    }
    // So that what is printed works: the skills are there, and they are in one program.
    let session = Session::open(reach, Need::ServeMcpStdio)?;
    let selected = session.selected()?;
    let skills: Vec<&SkillEntry> = selected.iter().map(|selected| selected.skill).collect();
    if !elsewhere {
        session.refuse_without(Need::ServeMcpStdio)?;
        provider::tools(&skills, ToolOptions::default())
            .map_err(|message| Failure::usage(message).help(provider::RENAME))?;
    }
    provider::warn(&skills, ToolOptions::default());
    let Some(first) = selected.first() else {
        return Err(Failure::usage("the program has no skill to serve"));
    };
    // The package that was named, else the one that declares the skills.
    let mut packages: Vec<&str> = session.packages().collect();
    if packages.len() != 1 {
        packages = skills.iter().map(|skill| skill.package.as_str()).collect();
        packages.dedup();
    }
    let of_program = first
        .program
        .path
        .file_stem()
        .filter(|_| !first.program.is_generated());
    let name = match packages.as_slice() {
        [package] => (*package).to_owned(),
        // Some clients take no other characters.
        _ => of_program
            .map_or(ANY.into(), OsStr::to_string_lossy)
            .replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "_"),
    };
    let launch = if first.program.is_generated() {
        by_this_tool(reach, matches, &session)?
    } else {
        let names: Vec<String> = if session.names_skills() {
            selected
                .iter()
                .map(|selected| selected.skill.reference.clone())
                .collect()
        } else {
            Vec::new()
        };
        Launch::of_program(&first.program.path, &names)
    };
    Ok((name, launch))
}

/// This tool builds the skills when it is started, so they are always those of the sources.
fn by_this_tool(reach: &Reach, matches: &ArgMatches, session: &Session) -> Result<Launch, Failure> {
    let tool = env::current_exe()
        .map_err(|error| Failure::usage(format!("the path of this tool is not known: {error}")))?;
    let mut args = vec!["serve".to_owned(), "mcp-stdio".to_owned()];
    let mut at_home = true;
    for target in &reach.targets {
        if session.is_name(target) {
            args.push(target.clone());
        } else {
            at_home = false;
            // Clients start programs anywhere.
            let path = absolute(Path::new(target))?;
            let path = path.canonicalize().unwrap_or(path);
            args.push(path.to_string_lossy().into_owned());
        }
    }
    if at_home && reach.cargo.manifest_path.is_none() {
        let workspace = Workspace::load(&reach.cargo.clone().absolute()?, None)?;
        let manifest = workspace.root.join("Cargo.toml");
        args.extend([
            "--manifest-path".to_owned(),
            manifest.to_string_lossy().into_owned(),
        ]);
    }
    args.extend(words(&reach.cargo, matches)?);
    // They often have a path of their own, without what a shell adds to it.
    let cargo = cargo::found().map(|cargo| ("CARGO".to_owned(), cargo.to_string_lossy().into_owned()));
    // Else what is built before, in a shell, would be built again elsewhere.
    let target = env::var_os("CARGO_TARGET_DIR").filter(|directory| !directory.is_empty());
    let target = target
        .map(|directory| absolute(Path::new(&directory)))
        .transpose()?;
    let target = target.map(|path| ("CARGO_TARGET_DIR".to_owned(), path.to_string_lossy().into_owned()));
    Ok(Launch {
        command: tool.to_string_lossy().into_owned(),
        args,
        env: cargo.into_iter().chain(target).collect(),
    })
}

/// The flags of a build as they were given, with paths that hold in any directory.
fn words(args: &CargoArgs, matches: &ArgMatches) -> Result<Vec<String>, Failure> {
    let word = |word: OsString| {
        let word = word.to_string_lossy().into_owned();
        Ok(match word.split_once('=') {
            Some((flag @ ("--target-dir" | "--manifest-path"), path)) => {
                format!("{flag}={}", absolute(Path::new(path))?.display())
            }
            Some((flag @ "--config", value)) => format!("{flag}={}", config(value)?),
            _ => word,
        })
    };
    given(args, matches).into_iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    #[test]
    fn flags_come_back_as_they_were_given() {
        let words = |line: &str| {
            let command = CargoArgs::augment_args(Command::new("build"));
            let matches = command.get_matches_from(std::iter::once("build").chain(line.split_whitespace()));
            words(&CargoArgs::from_arg_matches(&matches).unwrap(), &matches).unwrap()
        };
        assert_eq!(
            words("--target-dir /t --release -F a,b --config build.jobs=1"),
            [
                "--release",
                "--features=a,b",
                "--target-dir=/t",
                "--config=build.jobs=1"
            ]
        );
        assert!(
            Path::new(
                words("--manifest-path a/Cargo.toml")[0]
                    .split_once('=')
                    .unwrap()
                    .1
            )
            .is_absolute()
        );
        assert!(words("").is_empty());
    }
}
