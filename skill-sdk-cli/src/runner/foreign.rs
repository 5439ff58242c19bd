//! Rejects builds for another machine: skills are read by running the program that was built.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use skill_sdk::host::command::Failure;
use toml::{Table, Value};

use crate::cargo::{self, CargoArgs};

/// An error when cargo would build for another target triple than this machine's.
pub(super) fn refuse(args: &CargoArgs, directory: &Path) -> Result<(), Failure> {
    let (triple, origin) = if let Some(triple) = &args.target {
        (triple.clone(), "--target".to_owned())
    } else if let Some(triple) = env::var("CARGO_BUILD_TARGET")
        .ok()
        .filter(|triple| !triple.is_empty())
    {
        (triple, "CARGO_BUILD_TARGET".to_owned())
    } else if let Some((triple, path)) = configured(directory) {
        (triple, format!("`build.target` in {}", path.display()))
    } else {
        return Ok(());
    };
    let host = cargo::host_triple(directory)?;
    if triple == host || triple == "host-tuple" {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "skills are found by running the program, and one for `{triple}` ({origin}) does not run on this machine"
    ))
    .help(format!("build for this machine with `--target {host}`")))
}

/// `build.target` of the configuration files that hold in a directory; the nearest one wins.
fn configured(directory: &Path) -> Option<(String, PathBuf)> {
    directory
        .ancestors()
        .flat_map(|parent| {
            let folder = parent.join(".cargo");
            [folder.join("config"), folder.join("config.toml")]
        })
        .find_map(|path| {
            let config: Table = fs::read_to_string(&path).ok()?.parse().ok()?;
            let triple = match config.get("build")?.get("target")? {
                Value::String(triple) => triple.clone(),
                Value::Array(triples) => triples.first()?.as_str()?.to_owned(),
                _ => return None,
            };
            Some((triple, path))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_is_refused_before_the_build() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::create_dir(directory.path().join(".cargo")).unwrap();
        let config = directory.path().join(".cargo/config.toml");
        for text in [
            "[build]\ntarget = 'wasm32-unknown-unknown'",
            "build.target = ['wasm32-unknown-unknown']",
        ] {
            fs::write(&config, text).unwrap();
            assert_eq!(
                configured(&inner),
                Some(("wasm32-unknown-unknown".to_owned(), config.clone()))
            );
        }
        let failure = refuse(&CargoArgs::default(), &inner).unwrap_err().to_string();
        assert!(
            failure.contains("wasm32-unknown-unknown") && failure.contains("help: build for this machine")
        );
        let host = CargoArgs {
            target: Some(cargo::host_triple(&inner).unwrap()),
            ..CargoArgs::default()
        };
        assert_eq!(
            refuse(&host, &inner),
            Ok(()),
            "the flag is stronger than the file"
        );
    }
}
