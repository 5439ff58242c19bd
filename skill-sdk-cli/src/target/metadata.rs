//! What cargo says about a workspace (`cargo metadata --no-deps`): the few members the tool reads.
//!
//! Without the dependencies nothing is resolved, so cargo needs no network and leaves the user's lock file alone.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use skill_sdk::host::command::Failure;

use crate::cargo::{self, CargoArgs};

/// The name of the library's package, by which a dependency on it is known also when it is renamed.
pub(crate) const SKILL_SDK: &str = "skill-sdk";

/// A cargo workspace: one package, or several.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Workspace {
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    pub(crate) target_directory: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// A package of a workspace.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    pub(crate) targets: Vec<CrateTarget>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) features: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    metadata: Value,
}

/// A library, a binary or another target of a package.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct CrateTarget {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
    crate_types: Vec<String>,
}

/// A dependency as a manifest declares it.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` for a path.
    pub(crate) source: Option<String>,
    pub(crate) req: String,
    /// `None` for a normal dependency.
    pub(crate) kind: Option<String>,
    /// The index of a registry other than the default one.
    pub(crate) registry: Option<String>,
    pub(crate) path: Option<PathBuf>,
    /// Whether a feature turns it on, so that it may not be there.
    #[serde(default)]
    pub(crate) optional: bool,
}

/// Whether the skills of a package can be linked into a runner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linkage {
    Library,
    /// Only `bin` and other targets that nothing can link.
    BinaryOnly,
    /// A library of types that Rust code cannot link, such as `cdylib` alone.
    ForeignOnly,
}

/// The author's own program with skills: `[package.metadata.skill-sdk]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostBinary {
    pub(crate) bin: String,
    pub(crate) features: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostTable {
    bin: Option<String>,
    #[serde(default)]
    features: Vec<String>,
    /// `false`: the package uses the library for something else than declaring skills.
    #[serde(rename = "skills")]
    _skills: Option<bool>,
}

impl Workspace {
    /// Reads the workspace of a manifest, or of the current directory.
    pub(crate) fn load(args: &CargoArgs, manifest: Option<&Path>) -> Result<Self, Failure> {
        let directory = match manifest {
            Some(path) => cargo::directory(path).to_owned(),
            None => env::current_dir()
                .map_err(|error| Failure::usage(format!("the current directory is not readable: {error}")))?,
        };
        if let Some(path) = manifest.filter(|path| !path.is_file()) {
            return Err(
                Failure::usage(format!("there is no manifest `{}`", path.display()))
                    .help("name the `Cargo.toml` of a package or of a workspace"),
            );
        }
        let mut command = args.command("metadata", &directory);
        command.args(["--no-deps", "--format-version", "1"]);
        if let Some(path) = manifest {
            command.arg("--manifest-path").arg(path);
        }
        let json = cargo::output(&mut command)?.map_err(|said| {
            let reason = said.trim();
            Failure::usage(reason.strip_prefix("error: ").unwrap_or(reason))
                .help("run in a cargo workspace, or name a package directory or a built program with skills")
        })?;
        let mut workspace: Self = serde_json::from_slice(&json).map_err(|error| {
            Failure::usage(format!(
                "`cargo metadata` answered what this tool does not understand: {error}"
            ))
        })?;
        if let Some(chosen) = &args.target_dir {
            workspace.target_directory.clone_from(chosen);
        }
        workspace.packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(workspace)
    }

    /// The package with a name as cargo or Rust writes it.
    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages
            .iter()
            .find(|package| package.name == name)
            .or_else(|| {
                self.packages
                    .iter()
                    .find(|package| package.crate_name() == Some(name))
            })
    }

    /// The packages that depend on the library directly and do not say that they declare no skills.
    pub(crate) fn users(&self) -> impl Iterator<Item = &Package> {
        self.packages
            .iter()
            .filter(|package| package.skill_sdk().is_some() && package.declares_skills())
    }
}

impl Package {
    /// The directory of the package.
    pub(crate) fn directory(&self) -> &Path {
        cargo::directory(&self.manifest_path)
    }

    /// The declared dependency on the library.
    pub(crate) fn skill_sdk(&self) -> Option<&Dependency> {
        self.dependencies
            .iter()
            .find(|dependency| dependency.name == SKILL_SDK && dependency.kind.is_none())
    }

    /// Whether the manifest leaves open that the package declares skills.
    fn declares_skills(&self) -> bool {
        self.metadata.pointer(&format!("/{SKILL_SDK}/skills")) != Some(&Value::Bool(false))
    }

    /// The name of the library in Rust code.
    pub(crate) fn crate_name(&self) -> Option<&str> {
        self.library().map(|target| target.name.as_str())
    }

    /// Whether the package can be linked.
    pub(crate) fn linkage(&self) -> Linkage {
        match self.library() {
            None => Linkage::BinaryOnly,
            Some(target)
                if target
                    .crate_types
                    .iter()
                    .any(|kind| matches!(&**kind, "lib" | "rlib" | "dylib")) =>
            {
                Linkage::Library
            }
            Some(_) => Linkage::ForeignOnly,
        }
    }

    /// Whether other linkers than Rust's get the library, which drop what their program does not call.
    pub(crate) fn is_static_library(&self) -> bool {
        self.library()
            .is_some_and(|target| target.crate_types.iter().any(|kind| kind == "staticlib"))
    }

    /// The crate types of the library, for messages.
    pub(crate) fn crate_types(&self) -> String {
        let types = self
            .library()
            .map(|target| target.crate_types.as_slice())
            .unwrap_or_default();
        types
            .iter()
            .map(|name| format!("\"{name}\""))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The names of the binaries.
    pub(crate) fn binaries(&self) -> impl Iterator<Item = &str> {
        let is_binary = |target: &&CrateTarget| target.kind.iter().any(|kind| kind == "bin");
        self.targets
            .iter()
            .filter(is_binary)
            .map(|target| target.name.as_str())
    }

    /// The author's own program with skills, when the manifest declares one.
    pub(crate) fn host_binary(&self) -> Result<Option<HostBinary>, Failure> {
        let Some(table) = self.metadata.get(SKILL_SDK) else {
            return Ok(None);
        };
        let place = format!("[package.metadata.{SKILL_SDK}] of package `{}`", self.name);
        let HostTable { bin, features, _skills: _ } = HostTable::deserialize(table).map_err(|error| {
            Failure::usage(format!("{place} is not understood: {error}"))
                .help("it holds `bin = \"NAME\"` and, when the binary needs them, `features = [\"NAME\"]`; `skills = false` says that the package declares none")
        })?;
        let Some(bin) = bin else { return Ok(None) };
        if !self.binaries().any(|name| name == bin) {
            let names: Vec<&str> = self.binaries().collect();
            return Err(Failure::usage(format!(
                "{place} names the binary `{bin}`, which the package does not have"
            ))
            .help(format!(
                "its binaries are: {}",
                if names.is_empty() {
                    "none".into()
                } else {
                    names.join(", ")
                }
            )));
        }
        Ok(Some(HostBinary { bin, features }))
    }

    fn library(&self) -> Option<&CrateTarget> {
        const KINDS: [&str; 6] = ["lib", "rlib", "dylib", "cdylib", "staticlib", "proc-macro"];
        self.targets
            .iter()
            .find(|target| target.kind.iter().any(|kind| KINDS.contains(&&**kind)))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::json;

    use super::*;

    pub(in super::super) fn package(name: &str, kind: &str, metadata: &Value) -> Package {
        serde_json::from_value(json!({
            "name": name, "manifest_path": format!("/w/{name}/Cargo.toml"), "features": {}, "metadata": metadata,
            "targets": [{"name": name.replace('-', "_"), "kind": [kind], "crate_types": [kind]}],
            "dependencies": [{"name": SKILL_SDK, "source": null, "req": "*", "kind": null, "registry": null,
                              "path": "/sdk"}],
        }))
        .unwrap()
    }

    #[test]
    fn linkage_follows_the_crate_types() {
        for (kind, expected) in [
            ("lib", Linkage::Library),
            ("rlib", Linkage::Library),
            ("bin", Linkage::BinaryOnly),
            ("example", Linkage::BinaryOnly),
            ("cdylib", Linkage::ForeignOnly),
            ("staticlib", Linkage::ForeignOnly),
            ("proc-macro", Linkage::ForeignOnly),
        ] {
            assert_eq!(package("app", kind, &Value::Null).linkage(), expected, "{kind}");
        }
    }

    #[test]
    fn a_host_binary_must_exist() {
        let found = package(
            "app",
            "bin",
            &json!({"skill-sdk": {"bin": "app", "features": ["serve"]}}),
        )
        .host_binary();
        assert_eq!(
            found.unwrap(),
            Some(HostBinary {
                bin: "app".into(),
                features: vec!["serve".into()]
            })
        );
        for (metadata, expected) in [
            (json!({"skill-sdk": {"bin": "skills"}}), "its binaries are: app"),
            (json!({"skill-sdk": {"bin": 1}}), "is not understood"),
            (json!({"skill-sdk": {"binary": "app"}}), "unknown field `binary`"),
        ] {
            let failure = package("app", "bin", &metadata).host_binary().unwrap_err();
            assert!(failure.to_string().contains(expected), "{failure}");
        }
        assert_eq!(
            package("app", "bin", &json!({"other": {}}))
                .host_binary()
                .unwrap(),
            None
        );
    }
}
