//! Which packages of a workspace can be linked, which bring a program of their own, and which can do neither: all
//! said before anything is built.

use std::path::Path;

use skill_sdk::host::command::{Failure, failure};

use super::metadata::{Dependency, HostBinary, Linkage, Package, SKILL_SDK, Workspace};

/// The packages of one workspace whose skills are wanted.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) workspace: Workspace,
    /// The packages that one generated runner links.
    pub(crate) linked: Vec<Package>,
    /// The packages with a program of their own.
    pub(crate) owned: Vec<(Package, HostBinary)>,
    /// How the runner depends on the library.
    pub(crate) sdk: Dependency,
}

impl Group {
    /// Sorts the packages. `explicit`: the user pointed at them, so one that cannot be reached is an error; else it is
    /// a warning as long as another can be.
    pub(super) fn new(workspace: Workspace, packages: Vec<Package>, explicit: bool) -> Result<Self, Failure> {
        let (mut linked, mut owned, mut refused, mut sdk) = (Vec::new(), Vec::new(), Vec::new(), None);
        for package in packages {
            let Some(dependency) = dependency_on_sdk(&workspace, &package) else {
                return Err(without_sdk(&workspace, &package));
            };
            sdk.get_or_insert_with(|| dependency.clone());
            match (package.host_binary()?, unlinkable(&package)) {
                (Some(binary), _) => owned.push((package, binary)),
                (None, None) => linked.push(package),
                (None, Some(reason)) => refused.push((package.name.clone(), reason)),
            }
        }
        let Some(sdk) = sdk else {
            return Err(Failure::usage(format!(
                "nothing to build in `{}`",
                workspace.root.display()
            )));
        };
        // A program of the author's own links the packages it depends on.
        linked.retain(|package| {
            !owned
                .iter()
                .any(|(owner, _)| depends_on(&workspace, owner, &package.name))
        });
        let reached = !linked.is_empty() || !owned.is_empty();
        for (name, reason) in refused {
            if explicit || !reached {
                return Err(reason);
            }
            failure::warn(
                &format!("package `{name}` is left out: it has no library that can be linked"),
                Some(&format!("name it as the target (`{name}`) for the ways out")),
            );
        }
        Ok(Self {
            workspace,
            linked,
            owned,
            sdk,
        })
    }

    /// How many programs the group needs.
    pub(crate) fn programs(&self) -> usize {
        self.owned.len() + usize::from(!self.linked.is_empty())
    }

    /// The same group reached by one generated runner, when every package can be linked.
    pub(crate) fn by_one_runner(mut self) -> Option<Self> {
        for (package, _) in self.owned.drain(..) {
            if package.linkage() != Linkage::Library {
                return None;
            }
            self.linked.push(package);
        }
        Some(self)
    }
}

/// Why the skills of a package cannot be linked.
fn unlinkable(package: &Package) -> Option<Failure> {
    let name = &package.name;
    match package.linkage() {
        Linkage::Library => None,
        Linkage::BinaryOnly => {
            let bin = package.binaries().next().unwrap_or(name);
            Some(
                Failure::usage(format!(
                    "package '{name}' has only a binary target, so its skills cannot be linked into a runner"
                ))
                .help(format!(
                    "move the skills to src/lib.rs, or call `skill_sdk::host::main()` from main and set \
                     `[package.metadata.{SKILL_SDK}] bin = \"{bin}\"`"
                )),
            )
        }
        Linkage::ForeignOnly => Some(
            Failure::usage(format!(
                "package '{name}' has a library of type [{}] only, so its skills cannot be linked into a runner",
                package.crate_types()
            ))
            .help(format!(
                "add \"lib\" to `crate-type` in its manifest: `crate-type = [{}, \"lib\"]`",
                package.crate_types()
            )),
        ),
    }
}

fn without_sdk(workspace: &Workspace, package: &Package) -> Failure {
    let users: Vec<&str> = workspace.users().map(|user| user.name.as_str()).collect();
    let failure = Failure::usage(format!(
        "package '{}' does not depend on {SKILL_SDK}",
        package.name
    ));
    if users.is_empty() {
        return failure.help(format!("`cargo add {SKILL_SDK} -p {}` adds it", package.name));
    }
    failure.help(format!("the packages that do are: {}", users.join(", ")))
}

/// The dependency on the library of a package, or of a workspace package that it depends on.
fn dependency_on_sdk<'a>(workspace: &'a Workspace, package: &'a Package) -> Option<&'a Dependency> {
    package.skill_sdk().or_else(|| {
        workspace
            .users()
            .find(|user| depends_on(workspace, package, &user.name))
            .and_then(Package::skill_sdk)
    })
}

/// Whether a package depends on another of the workspace, at any distance and whatever features are on.
fn depends_on(workspace: &Workspace, package: &Package, name: &str) -> bool {
    let mut seen = vec![package.name.as_str()];
    let mut next = 0;
    while let Some(current) = seen
        .get(next)
        .and_then(|name| workspace.packages.iter().find(|p| p.name == **name))
    {
        next += 1;
        for dependency in current
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind.is_none() && !dependency.optional)
        {
            let Some(member) = member_at(workspace, dependency.path.as_deref()) else {
                continue;
            };
            if member.name == name {
                return true;
            }
            if !seen.contains(&member.name.as_str()) {
                seen.push(&member.name);
            }
        }
    }
    false
}

fn member_at<'a>(workspace: &'a Workspace, directory: Option<&Path>) -> Option<&'a Package> {
    workspace
        .packages
        .iter()
        .find(|package| Some(package.directory()) == directory)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::metadata::tests::package;
    use super::*;

    fn workspace(packages: Vec<Package>) -> Workspace {
        Workspace {
            root: "/w".into(),
            target_directory: "/w/target".into(),
            packages,
        }
    }

    fn depending(mut package: Package, on: &str) -> Package {
        let path = format!("/w/{on}");
        let dependency =
            json!({"name": on, "source": null, "req": "*", "kind": null, "registry": null, "path": path});
        package
            .dependencies
            .push(serde_json::from_value(dependency).unwrap());
        package
    }

    #[test]
    fn packages_that_cannot_be_linked_say_the_way_out() {
        for (kind, expected) in [
            (
                "bin",
                "package 'app' has only a binary target, so its skills cannot be linked into a runner",
            ),
            ("bin", "set `[package.metadata.skill-sdk] bin = \"app\"`"),
            ("cdylib", "`crate-type = [\"cdylib\", \"lib\"]`"),
        ] {
            let app = package("app", kind, &Value::Null);
            let failure = Group::new(workspace(vec![app.clone()]), vec![app], true).unwrap_err();
            assert!(failure.to_string().contains(expected), "{failure}");
        }
    }

    #[test]
    fn what_the_user_did_not_point_at_may_be_left_out() {
        let packages = vec![
            package("app", "bin", &Value::Null),
            package("skills", "lib", &Value::Null),
        ];
        assert!(Group::new(workspace(packages.clone()), packages.clone(), true).is_err());
        let group = Group::new(workspace(packages.clone()), packages, false).unwrap();
        assert_eq!(group.linked.len(), 1);
        assert_eq!(group.programs(), 1);
    }

    #[test]
    fn an_own_program_covers_what_it_depends_on() {
        let host = json!({"skill-sdk": {"bin": "app"}});
        let app = depending(package("app", "bin", &host), "middle");
        let middle = depending(package("middle", "lib", &Value::Null), "skills");
        let (skills, other) = (
            package("skills", "lib", &Value::Null),
            package("other", "lib", &Value::Null),
        );
        let packages = vec![app, middle, skills, other];
        let group = Group::new(workspace(packages.clone()), packages, false).unwrap();
        assert_eq!(group.owned.len(), 1);
        assert_eq!(
            group
                .linked
                .iter()
                .map(|package| package.name.as_str())
                .collect::<Vec<_>>(),
            ["other"]
        );
        assert!(group.by_one_runner().is_none(), "a binary cannot be linked");
    }

    #[test]
    fn an_own_program_covers_nothing_that_a_feature_may_leave_out() {
        let host = json!({"skill-sdk": {"bin": "app"}});
        let mut app = depending(package("app", "bin", &host), "skills");
        app.dependencies.last_mut().unwrap().optional = true;
        let packages = vec![app, package("skills", "lib", &Value::Null)];
        let group = Group::new(workspace(packages.clone()), packages, false).unwrap();
        assert_eq!((group.owned.len(), group.linked.len()), (1, 1));
    }

    #[test]
    fn the_library_may_be_reached_through_another_package() {
        let mut app = package("app", "lib", &Value::Null);
        app.dependencies.clear();
        let skills = package("skills", "lib", &Value::Null);
        let failure = Group::new(
            workspace(vec![app.clone(), skills.clone()]),
            vec![app.clone()],
            true,
        )
        .unwrap_err();
        assert!(
            failure.to_string().contains("the packages that do are: skills"),
            "{failure}"
        );
        let app = depending(app, "skills");
        assert!(Group::new(workspace(vec![app.clone(), skills]), vec![app], true).is_ok());
    }
}
