//! How another program starts the skills: by their own program, or by this tool, which builds them.

use std::env;
use std::ffi::OsStr;
use std::path::Path;

use skill_sdk::host::args::ToolArgs;
use skill_sdk::host::command::Failure;
use skill_sdk::host::protocol::SkillEntry;

use crate::cargo::{self, CargoArgs, absolute};
use crate::cli::Reach;
use crate::mcp_config::Launch;
use crate::provider;
use crate::runner::Need;
use crate::session::Session;
use crate::target::Workspace;

/// The name of skills of no one package.
const ANY: &str = "skills";

/// A name for the skills that the targets name, and how an MCP client starts them; `elsewhere`, nobody starts them.
pub(crate) fn launch(reach: &Reach, elsewhere: bool) -> Result<(String, Launch), Failure> {
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
        provider::tools(&skills, ToolArgs::default())
            .map_err(|message| Failure::usage(message).help(provider::RENAME))?;
    }
    provider::warn(&skills, ToolArgs::default());
    let Some(first) = selected.first() else {
        return Err(Failure::usage("there is no skill to serve"));
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
        by_this_tool(reach, &session)?
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
fn by_this_tool(reach: &Reach, session: &Session) -> Result<Launch, Failure> {
    let tool = env::current_exe()
        .map_err(|error| Failure::usage(format!("the path of this tool is not known: {error}")))?;
    let cargo_args = reach.cargo.clone().absolute()?;
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
    if at_home && cargo_args.manifest_path.is_none() {
        let workspace = Workspace::load(&cargo_args, None)?;
        let manifest = workspace.root.join("Cargo.toml");
        args.extend([
            "--manifest-path".to_owned(),
            manifest.to_string_lossy().into_owned(),
        ]);
    }
    args.extend(words(&cargo_args));
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

/// The flags of a build as they were given.
fn words(args: &CargoArgs) -> Vec<String> {
    let mut words = Vec::new();
    for (set, flag) in [
        (args.release, "--release"),
        (args.all_features, "--all-features"),
        (args.no_default_features, "--no-default-features"),
        (args.locked, "--locked"),
        (args.offline, "--offline"),
        (args.frozen, "--frozen"),
    ] {
        if set {
            words.push(flag.to_owned());
        }
    }
    let path = |path: &std::path::PathBuf| path.to_string_lossy().into_owned();
    for (flag, value) in [
        ("--profile", args.profile.clone()),
        ("--target", args.target.clone()),
        ("--target-dir", args.target_dir.as_ref().map(path)),
        ("--manifest-path", args.manifest_path.as_ref().map(path)),
    ] {
        if let Some(value) = value {
            words.extend([flag.to_owned(), value]);
        }
    }
    for (flag, values) in [("--features", &args.features), ("--config", &args.config)] {
        for value in values {
            words.extend([flag.to_owned(), value.clone()]);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_come_back_as_they_were_given() {
        let args = CargoArgs {
            release: true,
            features: vec!["a b".to_owned()],
            target_dir: Some("/t".into()),
            ..CargoArgs::default()
        };
        assert_eq!(
            words(&args),
            ["--release", "--target-dir", "/t", "--features", "a b"]
        );
        assert!(words(&CargoArgs::default()).is_empty());
    }
}
