//! What cargo resolved for a program (`cargo metadata`): the packages and who depends on whom.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde::Deserialize;
use skill_sdk::host::command::Failure;

use crate::cargo;
use crate::target::SKILL_SDK;

/// The resolved packages of a program.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "Metadata")]
pub(crate) struct Graph {
    packages: BTreeMap<String, Resolved>,
    root: Option<String>,
}

/// A resolved package.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Resolved {
    id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    /// `None` for a path.
    pub(crate) source: Option<String>,
    pub(crate) manifest_path: PathBuf,
    /// Normal dependencies: the name in Rust code and the id.
    #[serde(skip)]
    edges: Vec<Edge>,
}

#[derive(Debug, Clone)]
struct Edge {
    extern_name: String,
    id: String,
    /// Whether it is a dependency of the build script only.
    build_only: bool,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Resolved>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
    root: Option<String>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<NodeDependency>,
}

#[derive(Deserialize)]
struct NodeDependency {
    name: String,
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

impl From<Metadata> for Graph {
    fn from(metadata: Metadata) -> Self {
        let mut packages: BTreeMap<String, Resolved> = metadata
            .packages
            .into_iter()
            .map(|package| (package.id.clone(), package))
            .collect();
        for node in metadata.resolve.nodes {
            let Some(package) = packages.get_mut(&node.id) else {
                continue;
            };
            for dependency in node.deps {
                let is = |kind: Option<&str>| {
                    dependency
                        .dep_kinds
                        .iter()
                        .any(|known| known.kind.as_deref() == kind)
                };
                let (normal, build) = (is(None), is(Some("build")));
                if normal || build {
                    package.edges.push(Edge {
                        extern_name: dependency.name,
                        id: dependency.pkg,
                        build_only: !normal,
                    });
                }
            }
        }
        Self {
            packages,
            root: metadata.resolve.root,
        }
    }
}

impl Graph {
    /// Runs a prepared `cargo metadata`. The inner error is what cargo said.
    pub(super) fn load(mut command: Command) -> Result<Result<Self, String>, Failure> {
        command.args(["--format-version", "1", "--filter-platform", "host-tuple"]);
        match cargo::output(&mut command)? {
            Err(said) => Ok(Err(said)),
            Ok(json) => serde_json::from_slice(&json).map(Ok).map_err(|error| {
                Failure::usage(format!(
                    "`cargo metadata` answered what this tool does not understand: {error}"
                ))
            }),
        }
    }

    /// The packages that are linked when the named ones are, these included.
    pub(crate) fn linked_with<'a>(&'a self, names: &[String]) -> Vec<&'a Resolved> {
        let starts = self
            .packages
            .values()
            .filter(|package| names.contains(&package.name));
        self.reach(starts.map(|package| package.id.as_str()).collect(), |edge, _| {
            !edge.build_only
        })
    }

    /// Every package that is built for the root, which is not among them. Without `below_sdk`, the library and what
    /// only it needs are left out.
    pub(super) fn built_for_root(&self, below_sdk: bool) -> Vec<&Resolved> {
        let starts = self.root.iter().map(String::as_str).collect();
        let mut all = self.reach(starts, |_, to| {
            below_sdk || ![SKILL_SDK, "skill-sdk-contract", "skill-sdk-macros"].contains(&to.name.as_str())
        });
        all.retain(|package| Some(&package.id) != self.root.as_ref());
        all
    }

    /// The direct dependencies of a package that the library is a direct dependency of, with their names in Rust code.
    pub(super) fn users_below<'a>(
        &'a self,
        package: &'a Resolved,
    ) -> impl Iterator<Item = (&'a str, &'a Resolved)> {
        let normal = package.edges.iter().filter(|edge| !edge.build_only);
        normal
            .filter_map(|edge| Some((edge.extern_name.as_str(), self.packages.get(&edge.id)?)))
            .filter(|(_, dependency)| self.uses_sdk(dependency))
    }

    fn uses_sdk(&self, package: &Resolved) -> bool {
        let mut below = package
            .edges
            .iter()
            .filter_map(|edge| self.packages.get(&edge.id));
        package.name != SKILL_SDK && below.any(|dependency| dependency.name == SKILL_SDK)
    }

    fn reach<'a>(
        &'a self,
        mut next: Vec<&'a str>,
        follow: impl Fn(&Edge, &Resolved) -> bool,
    ) -> Vec<&'a Resolved> {
        let mut seen = BTreeSet::new();
        while let Some(id) = next.pop() {
            let Some(package) = self.packages.get(id) else {
                continue;
            };
            if !seen.insert(id) {
                continue;
            }
            for edge in &package.edges {
                if self.packages.get(&edge.id).is_some_and(|to| follow(edge, to)) {
                    next.push(&edge.id);
                }
            }
        }
        seen.into_iter().filter_map(|id| self.packages.get(id)).collect()
    }
}
