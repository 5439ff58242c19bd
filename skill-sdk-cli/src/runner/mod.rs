//! The program that links the packages with skills: generated under the target directory, or the author's own.
//!
//! - [`project`] writes the generated package, [`mirror`] takes over what only a workspace root may say,
//!   [`features`] hands the user's features to the packages
//! - [`lock`] makes its lock file from the user's, [`graph`] reads what cargo resolved
//! - [`build`] runs cargo, [`progress`] shows what it does, [`foreign`] rejects other machines
//! - [`program`] speaks the protocol with what was built
//! - [`mod@unreferenced`] finds dependencies that no code names and that are silently absent

mod build;
mod features;
mod foreign;
mod graph;
mod lock;
mod mirror;
pub(crate) mod program;
mod progress;
mod project;
mod unreferenced;

use std::path::PathBuf;

use skill_sdk::host::command::Failure;

use crate::cargo::{self, CargoArgs};
use crate::target::{Group, HostBinary, Package, Workspace};
pub(crate) use graph::Graph;
pub(crate) use unreferenced::unreferenced;

/// What a program must be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Only to describe its skills.
    Describe,
    /// The same, and beside the named packages all others of the workspace are asked: an export must know what else
    /// there is, else it takes the files of the others for leftovers.
    DescribeAll,
    /// To run one.
    Invoke,
    /// To host them over HTTP.
    ServeHttp,
    /// To host them for programs on this machine.
    ServeLocal,
    /// To serve them over MCP, over stdio.
    ServeMcpStdio,
    /// To serve them over MCP, over streamable HTTP.
    ServeMcpHttp,
}

impl Need {
    /// Whether all skills have to be in one program.
    pub(crate) fn is_one_program(self) -> bool {
        match self {
            Self::Describe | Self::DescribeAll | Self::Invoke => false,
            Self::ServeHttp | Self::ServeLocal | Self::ServeMcpStdio | Self::ServeMcpHttp => true,
        }
    }

    /// The features of the library without which a program cannot do it.
    pub(crate) fn features(self) -> &'static [&'static str] {
        match self {
            Self::Describe | Self::DescribeAll => &[],
            Self::Invoke | Self::ServeLocal => &["host"],
            Self::ServeHttp => &["host", "http"],
            Self::ServeMcpStdio => &["host", "mcp"],
            Self::ServeMcpHttp => &["host", "mcp-http"],
        }
    }

    /// The features of the library in a program that this tool generates: one set for all that runs skills, so that the library
    /// is compiled once for them.
    pub(crate) fn runner_features(self) -> &'static [&'static str] {
        match self {
            Self::Describe | Self::DescribeAll => &[],
            _ => &["host", "http", "mcp-http", "telemetry"],
        }
    }

    /// The command of a program that does it.
    pub(crate) fn command(self) -> &'static [&'static str] {
        match self {
            Self::Describe | Self::DescribeAll => &[],
            Self::Invoke => &["invoke"],
            Self::ServeHttp => &["serve", "http"],
            Self::ServeLocal => &["serve", "local"],
            Self::ServeMcpStdio => &["serve", "mcp-stdio"],
            Self::ServeMcpHttp => &["serve", "mcp-http"],
        }
    }
}

/// A program with skills.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    /// The names of the packages whose skills it was built for. Empty: unknown, it was built by others.
    pub(crate) packages: Vec<String>,
    /// What cargo resolved for it.
    pub(crate) graph: Option<Graph>,
}

impl Program {
    /// Whether the CLI generated it.
    pub(crate) fn is_generated(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(project::NAME_PREFIX)
    }
}

/// Builds the programs of a group.
pub(crate) fn programs(group: &Group, args: &CargoArgs, need: Need) -> Result<Vec<Program>, Failure> {
    let mut programs = Vec::new();
    for (package, binary) in &group.owned {
        // Alone it gets all of them, so that cargo tells what it does not know.
        let features = if group.programs() == 1 {
            args.feature_names().collect()
        } else {
            features::of_owned(package, args)
        };
        programs.push(own(&group.workspace, package, binary, &features, args)?);
    }
    if !group.linked.is_empty() {
        programs.push(generated(group, args, need)?);
    }
    Ok(programs)
}

fn generated(group: &Group, args: &CargoArgs, need: Need) -> Result<Program, Failure> {
    let Some(first) = group.linked.first() else {
        return Err(Failure::usage("the targets name no package to link"));
    };
    let directory = first.directory();
    foreign::refuse(args, directory)?;
    let project = project::Project::write(group, args, need)?;
    let graph = lock::prepare(&project, group, args, need, directory)?;
    let mut command = args.command("build", directory);
    command.arg("--manifest-path").arg(project.manifest());
    // The lock file is complete by now: the build may change nothing in it.
    command.arg("--locked");
    args.add_build_flags(&mut command, &group.workspace.target_directory);
    if args.network() == cargo::Network::Refused {
        command.arg("--offline");
    }
    let wanted = build::Wanted {
        manifest: project.manifest(),
        bin: project.name.clone(),
    };
    let path = build::run(command, &wanted, args)?;
    let packages = group.linked.iter().map(|package| package.name.clone()).collect();
    Ok(Program {
        path,
        packages,
        graph: Some(graph),
    })
}

/// Builds the author's own program as the author would, but never changes the lock file.
fn own(
    workspace: &Workspace,
    package: &Package,
    binary: &HostBinary,
    given: &[&str],
    args: &CargoArgs,
) -> Result<Program, Failure> {
    let directory = package.directory();
    foreign::refuse(args, directory)?;
    let mut command = args.command("build", directory);
    command
        .arg("--manifest-path")
        .arg(&package.manifest_path)
        .args(["--bin", &binary.bin, "--locked"]);
    args.add_build_flags(&mut command, &workspace.target_directory);
    if args.network() == cargo::Network::Refused {
        command.arg("--offline");
    }
    let mut features: Vec<&str> = binary.features.iter().map(String::as_str).collect();
    features.extend(given);
    for feature in &features {
        command.args(["--features", feature]);
    }
    for (wanted, flag) in [
        (args.all_features, "--all-features"),
        (args.no_default_features, "--no-default-features"),
    ] {
        if wanted {
            command.arg(flag);
        }
    }
    let wanted = build::Wanted {
        manifest: package.manifest_path.clone(),
        bin: binary.bin.clone(),
    };
    let path = build::run(command, &wanted, args)?;
    let mut command = args.command("metadata", directory);
    command
        .arg("--manifest-path")
        .arg(&package.manifest_path)
        .args(["--locked", "--offline"]);
    // The graph is only needed for warnings.
    let graph = Graph::load(command)?.ok();
    Ok(Program {
        path,
        packages: vec![package.name.clone()],
        graph,
    })
}
