//! Hands the features after `--features` to the packages of a runner, as cargo does for the packages of a workspace.

use skill_sdk::host::command::Failure;

use crate::cargo::CargoArgs;
use crate::target::{Package, SKILL_SDK};

/// The features of the runner's dependencies.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Distributed {
    /// Of each package, in the order of the packages.
    pub(super) packages: Vec<Vec<String>>,
    /// Of the library.
    pub(super) sdk: Vec<String>,
}

/// Gives each feature to the packages that have it. `alone` are built on their own, and [`of_owned`] gives them theirs.
pub(super) fn distribute<'a>(
    packages: &'a [Package],
    alone: impl Iterator<Item = &'a Package> + Clone,
    args: &CargoArgs,
) -> Result<Distributed, Failure> {
    let mut result = Distributed {
        packages: vec![Vec::new(); packages.len()],
        sdk: Vec::new(),
    };
    if args.all_features {
        for (features, package) in result.packages.iter_mut().zip(packages) {
            features.extend(package.features.keys().cloned());
        }
    }
    for name in args.feature_names() {
        let (owner, feature) = match name.split_once('/') {
            Some((owner, feature)) => (Some(owner.trim_end_matches('?')), feature),
            None => (None, name),
        };
        let mut given = false;
        for (features, package) in result.packages.iter_mut().zip(packages) {
            if owner.is_none_or(|owner| owner == package.name) && package.features.contains_key(feature) {
                given = true;
                if !features.iter().any(|known| known == feature) {
                    features.push(feature.to_owned());
                }
            }
        }
        if owner == Some(SKILL_SDK) {
            given = true;
            result.sdk.push(feature.to_owned());
        }
        if !given && !alone.clone().any(|package| taken(package, name).is_some()) {
            let all: Vec<&Package> = packages.iter().chain(alone).collect();
            return Err(missing(name, owner, &all));
        }
    }
    Ok(result)
}

/// Those of the features that a package with a program of its own has, as cargo takes them for it alone.
pub(super) fn of_owned<'a>(package: &Package, args: &'a CargoArgs) -> Vec<&'a str> {
    args.feature_names()
        .filter_map(|name| taken(package, name))
        .collect()
}

/// The feature as a package's own one or as one of its dependencies'; `None` when it is neither.
fn taken<'a>(package: &Package, name: &'a str) -> Option<&'a str> {
    let Some((owner, feature)) = name.split_once('/') else {
        return package.features.contains_key(name).then_some(name);
    };
    let owner = owner.trim_end_matches('?');
    if owner == package.name {
        return package.features.contains_key(feature).then_some(feature);
    }
    let depends = package
        .dependencies
        .iter()
        .any(|dependency| dependency.name == owner);
    depends.then_some(name)
}

fn missing(name: &str, owner: Option<&str>, packages: &[&Package]) -> Failure {
    let failure = Failure::usage(format!("none of the packages has the feature `{name}`"));
    if let Some(owner) = owner.filter(|owner| packages.iter().all(|package| package.name != **owner)) {
        return failure.help(format!(
            "`{owner}` is no target; a feature of a dependency is turned on by a feature of a target that lists \
             `{name}`"
        ));
    }
    packages.iter().fold(failure, |failure, package| {
        let names: Vec<&str> = package.features.keys().map(String::as_str).collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        failure.help(format!("the features of {} are: {names}", package.name))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(name: &str, features: &[&str]) -> Package {
        let features: serde_json::Map<_, _> = features
            .iter()
            .map(|feature| ((*feature).to_owned(), json!([])))
            .collect();
        serde_json::from_value(json!({
            "name": name, "manifest_path": "/w/Cargo.toml", "targets": [], "dependencies": [], "features": features,
        }))
        .unwrap()
    }

    fn given(features: &str) -> Result<Distributed, Failure> {
        let args = CargoArgs {
            features: vec![features.to_owned()],
            ..CargoArgs::default()
        };
        distribute(
            &[package("a", &["x", "y"]), package("b", &["x"])],
            [].iter(),
            &args,
        )
    }

    #[test]
    fn a_feature_goes_to_the_packages_that_have_it() {
        for (features, a, b, sdk) in [
            ("x", vec!["x"], vec!["x"], vec![]),
            ("y", vec!["y"], vec![], vec![]),
            ("a/x,b/x x", vec!["x"], vec!["x"], vec![]),
            ("skill-sdk/http", vec![], vec![], vec!["http"]),
        ] {
            let found = given(features).unwrap();
            assert_eq!(
                (&found.packages[0], &found.packages[1]),
                (&own(&a), &own(&b)),
                "{features}"
            );
            assert_eq!(found.sdk, own(&sdk));
        }
        let all = CargoArgs {
            all_features: true,
            ..CargoArgs::default()
        };
        assert_eq!(
            distribute(&[package("a", &["x", "y"])], [].iter(), &all)
                .unwrap()
                .packages[0],
            ["x", "y"]
        );
    }

    #[test]
    fn a_program_of_its_own_and_a_runner_take_what_each_has() {
        let mut app = package("app", &["more"]);
        app.dependencies = serde_json::from_value(json!([{
            "name": "serde", "source": null, "req": "*", "kind": null, "registry": null, "path": null,
        }]))
        .unwrap();
        let linked = [package("lib", &["x", "more"])];
        for (features, of_lib, of_app) in [
            ("x", vec!["x"], vec![]),
            ("more", vec!["more"], vec!["more"]),
            ("app/more,lib/x", vec!["x"], vec!["more"]),
            ("serde/rc", vec![], vec!["serde/rc"]),
        ] {
            let args = CargoArgs {
                features: vec![features.to_owned()],
                ..CargoArgs::default()
            };
            let found = distribute(&linked, [&app].into_iter(), &args).unwrap();
            assert_eq!(found.packages[0], own(&of_lib), "{features}");
            assert_eq!(of_owned(&app, &args), of_app, "{features}");
        }
        for features in ["z", "lib/z", "app/x", "other/x"] {
            let args = CargoArgs {
                features: vec![features.to_owned()],
                ..CargoArgs::default()
            };
            let failure = distribute(&linked, [&app].into_iter(), &args).unwrap_err();
            assert!(failure.to_string().contains("none of the packages"), "{failure}");
        }
    }

    #[test]
    fn an_unknown_feature_lists_what_there_is() {
        assert!(
            given("z")
                .unwrap_err()
                .to_string()
                .contains("the features of a are: x, y")
        );
        assert!(
            given("b/y")
                .unwrap_err()
                .to_string()
                .contains("the features of b are: x")
        );
        assert!(
            given("serde/std")
                .unwrap_err()
                .to_string()
                .contains("`serde` is no target")
        );
    }

    fn own(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }
}
