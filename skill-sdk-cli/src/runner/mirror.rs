//! What only the root of a workspace may say, taken over from the user's root.
//!
//! Cargo ignores `[profile]`, `[patch]` and `[replace]` anywhere else: without the profile everything is built once
//! more, without the patch another crate is built.

use std::fs;
use std::path::Path;

use skill_sdk::host::command::Failure;
use toml::{Table, Value};

/// The root part of the runner's manifest: `[workspace]` of its own, and the mirrored tables.
pub(super) fn root(workspace: &Path) -> Result<Table, Failure> {
    let path = workspace.join("Cargo.toml");
    let text = fs::read_to_string(&path)
        .map_err(|error| Failure::usage(format!("could not read `{}`: {error}", path.display())))?;
    let user: Table = text
        .parse()
        .map_err(|error| Failure::usage(format!("`{}` is not a manifest: {error}", path.display())))?;
    Ok(mirrored(&user, workspace))
}

fn mirrored(user: &Table, directory: &Path) -> Table {
    let mut manifest = Table::new();
    for key in ["cargo-features", "profile", "patch", "replace"] {
        if let Some(value) = user.get(key) {
            manifest.insert(key.to_owned(), value.clone());
        }
    }
    for source in manifest
        .get_mut("patch")
        .and_then(Value::as_table_mut)
        .into_iter()
        .flat_map(Table::iter_mut)
    {
        make_absolute(source.1, directory);
    }
    if let Some(replaced) = manifest.get_mut("replace") {
        make_absolute(replaced, directory);
    }
    let workspace = Table::from_iter([("resolver".to_owned(), Value::from(resolver(user)))]);
    manifest.insert("workspace".to_owned(), workspace.into());
    manifest
}

/// Makes the `path` of each dependency in a table hold in any directory.
fn make_absolute(dependencies: &mut Value, directory: &Path) {
    for (_, dependency) in dependencies.as_table_mut().into_iter().flat_map(Table::iter_mut) {
        if let Some(path) = dependency.get_mut("path")
            && let Some(relative) = path.as_str()
        {
            *path = Value::from(directory.join(relative).to_string_lossy().into_owned());
        }
    }
}

/// The resolver as cargo chooses it: what is written, else by the edition of the root package.
fn resolver(user: &Table) -> String {
    let workspace = user.get("workspace");
    let package = user.get("package");
    let written = [workspace, package]
        .into_iter()
        .flatten()
        .find_map(|table| table.get("resolver")?.as_str());
    if let Some(resolver) = written {
        return resolver.to_owned();
    }
    let edition = package
        .and_then(|package| package.get("edition"))
        .and_then(|edition| {
            edition
                .as_str()
                .or_else(|| workspace?.get("package")?.get("edition")?.as_str())
        });
    match edition {
        Some("2015" | "2018") | None => "1",
        Some("2021") => "2",
        Some(_) => "3",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resolver_is_cargos_choice() {
        for (manifest, expected) in [
            ("[workspace]", "1"),
            ("[workspace]\nresolver = '2'", "2"),
            ("[package]\nname = 'a'", "1"),
            ("[package]\nedition = '2018'", "1"),
            ("[package]\nedition = '2021'", "2"),
            ("[package]\nedition = '2024'", "3"),
            ("[package]\nedition = '2024'\nresolver = '1'", "1"),
            (
                "[package]\nedition.workspace = true\n[workspace.package]\nedition = '2021'",
                "2",
            ),
        ] {
            assert_eq!(resolver(&manifest.parse().unwrap()), expected, "{manifest}");
        }
    }

    #[test]
    fn root_tables_are_taken_over_with_absolute_paths() {
        let user: Table = r#"
            cargo-features = ["x"]
            [dependencies]
            other = "1"
            [profile.dev]
            opt-level = 1
            [profile.dev.package."*"]
            debug = false
            [patch.crates-io]
            a = { path = "../a" }
            b = { git = "https://h.example/b" }
            c = { path = "/abs/c" }
            [replace]
            "d:1.0.0" = { path = "d" }
        "#
        .parse()
        .unwrap();
        let made = mirrored(&user, Path::new("/w"));
        assert_eq!(made["patch"]["crates-io"]["a"]["path"].as_str(), Some("/w/../a"));
        assert_eq!(made["patch"]["crates-io"]["b"], user["patch"]["crates-io"]["b"]);
        assert_eq!(made["patch"]["crates-io"]["c"]["path"].as_str(), Some("/abs/c"));
        assert_eq!(made["replace"]["d:1.0.0"]["path"].as_str(), Some("/w/d"));
        assert_eq!(
            (&made["profile"], &made["cargo-features"]),
            (&user["profile"], &user["cargo-features"])
        );
        assert!(!made.contains_key("dependencies"));
    }
}
