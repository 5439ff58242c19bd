//! The lock file of a runner: the user's, plus the runner itself and what the library's host features need.
//!
//! The user's own file is only read. It is copied again when it changed, else new versions would never arrive.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use skill_sdk::host::command::Failure;

use super::Need;
use super::graph::{Graph, Resolved};
use super::project::{Project, hash, write_if_changed};
use crate::cargo::{CargoArgs, Network};
use crate::target::Group;

/// The hash of the user's lock file that the runner's was copied from.
const COPIED_FROM: &str = ".copied-lock";

#[derive(Deserialize)]
struct LockFile {
    #[serde(default)]
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
}

/// Makes the runner's lock file complete and hands back what is resolved by it.
pub(super) fn prepare(
    project: &Project,
    group: &Group,
    args: &CargoArgs,
    need: Need,
    directory: &Path,
) -> Result<Graph, Failure> {
    let path = group.workspace.root.join("Cargo.lock");
    let users = fs::read(&path).ok();
    match &users {
        Some(bytes) => copy(project, bytes)?,
        None if args.is_locked() => {
            return Err(Failure::usage(format!(
                "`{}` does not exist, and --locked forbids to create it",
                path.display()
            ))
            .help("run `cargo generate-lockfile` in the workspace"));
        }
        None => {}
    }
    let graph = resolve(project, args, directory)?;
    if let Some(bytes) = users.filter(|_| args.is_locked()) {
        // The host features of the library bring packages that no lock file of a user can know.
        let strict = graph.built_for_root(need.features().is_empty());
        compare(&bytes, &strict, &path)?;
    }
    Ok(graph)
}

fn copy(project: &Project, bytes: &[u8]) -> Result<(), Failure> {
    let (lock, remembered) = (
        project.directory.join("Cargo.lock"),
        project.directory.join(COPIED_FROM),
    );
    let current = format!("{:016x}", hash(bytes));
    if lock.exists() && fs::read_to_string(&remembered).is_ok_and(|old| old == current) {
        return Ok(());
    }
    fs::write(&lock, bytes)
        .and_then(|()| write_if_changed(&remembered, current.as_bytes()))
        .map_err(|error| Failure::usage(format!("could not write `{}`: {error}", lock.display())))
}

/// First without the network: what the lock file names is on this machine nearly always, and then nothing moves.
fn resolve(project: &Project, args: &CargoArgs, directory: &Path) -> Result<Graph, Failure> {
    let command = |offline: bool| {
        let mut command = args.command("metadata", directory);
        command.arg("--manifest-path").arg(project.manifest());
        if offline {
            command.arg("--offline");
        }
        command
    };
    let said = match Graph::load(command(true))? {
        Ok(graph) => return Ok(graph),
        Err(said) if args.network() == Network::Refused => said,
        Err(_) => match Graph::load(command(false))? {
            Ok(graph) => return Ok(graph),
            Err(said) => said,
        },
    };
    let failure = Failure::usage("cargo could not resolve the dependencies").detail(said);
    Err(if args.network() == Network::Refused {
        failure.help("`cargo fetch` downloads what is missing, or leave out --offline")
    } else {
        failure.help(format!(
            "reproduce with `cargo tree --manifest-path {}`",
            project.manifest().display()
        ))
    })
}

fn compare(users: &[u8], resolved: &[&Resolved], path: &Path) -> Result<(), Failure> {
    let lock: LockFile = toml::from_slice(users)
        .map_err(|error| Failure::usage(format!("`{}` is not a lock file: {error}", path.display())))?;
    let known = |package: &&&Resolved| {
        lock.package.iter().any(|locked| {
            locked.name == package.name
                && locked.version == package.version
                && locked.source == package.source
        })
    };
    let missing: Vec<String> = resolved
        .iter()
        .filter(|package| !known(package))
        .map(|package| format!("{} {}", package.name, package.version))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "`{}` needs to be updated, and --locked forbids it",
        path.display()
    ))
    .help(format!("it does not hold {}", missing.join(", ")))
    .help("run `cargo update --workspace`, or leave out --locked"))
}
