//! From all targets to what must be built.

use std::path::{Path, PathBuf};

use skill_sdk::host::command::Failure;

use super::linkage::Group;
use super::metadata::{Package, SKILL_SDK, Workspace};
use super::place::{self, Place};
use crate::cargo::{CargoArgs, same_file};

/// What the targets of a command mean.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// The packages to build, one group for each workspace.
    pub(crate) groups: Vec<Group>,
    /// Programs that are built already.
    pub(crate) programs: Vec<PathBuf>,
    /// What to take of the skills that are found. Empty: all.
    pub(crate) names: Vec<String>,
}

/// The packages of one workspace that the targets take.
struct Taken {
    workspace: Workspace,
    packages: Vec<Package>,
    /// Whether the user pointed at these very packages, so that none may be left out.
    explicit: bool,
}

/// Says what the targets mean. `whole`: also packages of the workspace that are not named are built.
pub(crate) fn resolve(targets: &[String], args: &CargoArgs, whole: bool) -> Result<Plan, Failure> {
    let home = Home::new(args);
    let (mut places, mut names) = (Vec::new(), Vec::new());
    for target in targets {
        if place::looks_like_path(target) {
            places.push(place::of_path(target)?);
        } else if home.package(target) {
            names.push(target.clone());
        } else if let Some(place) = place::of_word(target) {
            places.push(place);
        } else {
            names.push(target.clone());
        }
    }
    let mut plan = Plan {
        names,
        ..Plan::default()
    };
    let mut taken: Vec<Taken> = Vec::new();
    for place in &places {
        match place {
            Place::Program(path) => plan.programs.push(path.clone()),
            Place::Manifest(manifest) => take(&mut taken, at_manifest(manifest, args)?),
        }
    }
    if places.is_empty() {
        let workspace = home.workspace?;
        let packages = workspace.users().cloned().collect();
        taken.push(Taken {
            workspace,
            packages,
            explicit: false,
        });
    }
    for mut found in taken {
        narrow(&mut found, &plan.names)?;
        if whole {
            found.packages.extend(found.workspace.users().cloned());
            found.packages.sort_by(|a, b| a.name.cmp(&b.name));
            found.packages.dedup_by(|a, b| a.name == b.name);
            found.explicit = false;
        }
        plan.groups
            .push(Group::new(found.workspace, found.packages, found.explicit)?);
    }
    Ok(plan)
}

/// The workspace of the current directory or of `--manifest-path`, which need not exist.
struct Home {
    workspace: Result<Workspace, Failure>,
}

impl Home {
    fn new(args: &CargoArgs) -> Self {
        Self {
            workspace: Workspace::load(args, args.manifest_path.as_deref()),
        }
    }

    fn package(&self, word: &str) -> bool {
        self.workspace
            .as_ref()
            .is_ok_and(|workspace| workspace.package(word).is_some())
    }
}

/// The packages of a manifest: all users of the library for a workspace root, else the one package.
fn at_manifest(manifest: &Path, args: &CargoArgs) -> Result<Taken, Failure> {
    let workspace = Workspace::load(args, Some(manifest))?;
    if same_file(&workspace.root.join("Cargo.toml"), manifest) {
        let packages: Vec<Package> = workspace.users().cloned().collect();
        return Ok(Taken {
            workspace,
            packages,
            explicit: false,
        });
    }
    let Some(package) = workspace
        .packages
        .iter()
        .find(|package| same_file(&package.manifest_path, manifest))
    else {
        return Err(
            Failure::usage(format!("`{}` is no package of its workspace", manifest.display()))
                .help(packages_line(&workspace)),
        );
    };
    let packages = vec![package.clone()];
    Ok(Taken {
        workspace,
        packages,
        explicit: true,
    })
}

/// Adds what was taken from a workspace to what was taken from the same one before.
fn take(all: &mut Vec<Taken>, new: Taken) {
    match all
        .iter_mut()
        .find(|taken| taken.workspace.root == new.workspace.root)
    {
        None => all.push(new),
        Some(taken) => {
            taken.explicit |= new.explicit;
            for package in new.packages {
                if !taken
                    .packages
                    .iter()
                    .any(|known| known.manifest_path == package.manifest_path)
                {
                    taken.packages.push(package);
                }
            }
        }
    }
}

/// Leaves only the packages that can hold what is named. A name that says nothing of its package keeps all.
fn narrow(taken: &mut Taken, names: &[String]) -> Result<(), Failure> {
    let workspace = &taken.workspace;
    if taken.packages.is_empty() && !names.iter().any(|name| workspace.package(name).is_some()) {
        return Err(Failure::usage(format!(
            "no package of the workspace `{}` depends on {SKILL_SDK}",
            workspace.root.display()
        ))
        .help(packages_line(workspace))
        .help(format!(
            "`cargo add {SKILL_SDK}` makes a package one that can declare skills"
        )));
    }
    let mut kept: Vec<Package> = Vec::new();
    for name in names {
        let found = workspace.package(name).or_else(|| {
            let wanted = place::crate_of(name)?;
            taken
                .packages
                .iter()
                .find(|package| package.crate_name() == Some(wanted))
        });
        let Some(package) = found else { return Ok(()) };
        if !kept
            .iter()
            .any(|known| known.manifest_path == package.manifest_path)
        {
            kept.push(package.clone());
        }
    }
    if !names.is_empty() {
        taken.packages = kept;
        taken.explicit = true;
    }
    Ok(())
}

/// The packages of a workspace, for an error.
pub(super) fn packages_line(workspace: &Workspace) -> String {
    let names: Vec<&str> = workspace
        .packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    format!("the packages are: {}", names.join(", "))
}
