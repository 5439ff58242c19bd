//! Every call of cargo: the flags that are passed on, where it runs, and what a failure of it says.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use clap::Args;
use skill_sdk::host::command::Failure;

/// The flags of cargo that the CLI passes on. They mean what they mean to `cargo build`, so the help only names them.
#[derive(Debug, Clone, Default, Args)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each flag is a switch of cargo's own; an enum would only rename them"
)]
pub(crate) struct CargoArgs {
    /// Build with optimizations
    #[arg(short, long, conflicts_with = "profile", hide = true)]
    pub(crate) release: bool,
    /// Build with this profile
    #[arg(long, value_name = "PROFILE", hide = true)]
    pub(crate) profile: Option<String>,
    /// Features of the packages, separated by space or comma; `package/feature` names one of a package
    #[arg(short = 'F', long, value_name = "FEATURES", hide = true)]
    pub(crate) features: Vec<String>,
    /// Turn all features of the packages on
    #[arg(long, hide = true)]
    pub(crate) all_features: bool,
    /// Turn the default features of the packages off
    #[arg(long, hide = true)]
    pub(crate) no_default_features: bool,
    /// Build for this target triple, which must be this machine's
    #[arg(long, value_name = "TRIPLE", hide = true)]
    pub(crate) target: Option<String>,
    /// Fail unless Cargo.lock can be used as it is
    #[arg(long, hide = true)]
    pub(crate) locked: bool,
    /// Use no network
    #[arg(long, hide = true)]
    pub(crate) offline: bool,
    /// The same as --locked and --offline
    #[arg(long, hide = true)]
    pub(crate) frozen: bool,
    /// Where build results go
    #[arg(long, value_name = "DIR", hide = true)]
    pub(crate) target_dir: Option<PathBuf>,
    /// The manifest of the package or workspace to look in
    #[arg(long, value_name = "PATH", hide = true)]
    pub(crate) manifest_path: Option<PathBuf>,
    /// Override a configuration value of cargo
    #[arg(long, value_name = "KEY=VALUE|PATH", hide = true)]
    pub(crate) config: Vec<String>,
    /// How many jobs cargo runs at the same time
    #[arg(short, long, value_name = "N", allow_negative_numbers = true, hide = true)]
    pub(crate) jobs: Option<String>,
    /// Show what cargo does; twice for more
    #[arg(short, long, action = clap::ArgAction::Count, hide = true)]
    pub(crate) verbose: u8,
}

/// How much of the network and of the lock file a call of cargo may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Network {
    Allowed,
    Refused,
}

impl CargoArgs {
    /// `--locked`, also as a part of `--frozen`.
    pub(crate) fn is_locked(&self) -> bool {
        self.locked || self.frozen
    }

    /// `--offline`, also as a part of `--frozen`.
    pub(crate) fn network(&self) -> Network {
        if self.offline || self.frozen {
            Network::Refused
        } else {
            Network::Allowed
        }
    }

    /// The names after `--features`, one each.
    pub(crate) fn feature_names(&self) -> impl Iterator<Item = &str> {
        self.features
            .iter()
            .flat_map(|list| list.split([' ', ',']))
            .filter(|name| !name.is_empty())
    }

    /// The same flags with paths that hold in any directory, since cargo does not run in the user's.
    pub(crate) fn absolute(mut self) -> Result<Self, Failure> {
        for path in [&mut self.target_dir, &mut self.manifest_path]
            .into_iter()
            .flatten()
        {
            *path = absolute(path)?;
        }
        for value in &mut self.config {
            *value = config(value)?;
        }
        Ok(self)
    }

    /// `cargo SUBCOMMAND` in a directory, so that the toolchain file and the configuration of that directory hold.
    pub(crate) fn command(&self, subcommand: &str, directory: &Path) -> Command {
        let mut command = Command::new(program());
        command.current_dir(directory).arg(subcommand);
        for value in &self.config {
            command.arg("--config").arg(value);
        }
        command
    }

    /// The flags of a build that are passed on as they are. Features are not: they belong to packages.
    pub(crate) fn add_build_flags(&self, command: &mut Command, target_directory: &Path) {
        command.arg("--target-dir").arg(target_directory);
        if self.release {
            command.arg("--release");
        }
        for (flag, value) in [
            ("--profile", &self.profile),
            ("--target", &self.target),
            ("--jobs", &self.jobs),
        ] {
            if let Some(value) = value {
                command.arg(flag).arg(value);
            }
        }
        for _ in 0..self.verbose {
            command.arg("-v");
        }
    }
}

/// Where the cargo is that this tool runs, when it can be told.
pub(crate) fn found() -> Option<PathBuf> {
    let program = PathBuf::from(program());
    if program.is_absolute() {
        return Some(program);
    }
    let file = program.with_extension(env::consts::EXE_EXTENSION);
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|directory| directory.join(&file))
        .find(|path| path.is_file())
}

/// The directory of a manifest.
pub(crate) fn directory(manifest: &Path) -> &Path {
    manifest.parent().unwrap_or(manifest)
}

/// A path that holds in any directory.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path)
        .map_err(|error| Failure::usage(format!("`{}` is not a usable path: {error}", path.display())))
}

/// A value of `--config` that holds in any directory. Cargo decides between `KEY=VALUE` and `PATH` by whether there is such a file.
pub(crate) fn config(value: &str) -> Result<String, Failure> {
    let path = Path::new(value);
    Ok(if path.exists() {
        absolute(path)?.to_string_lossy().into_owned()
    } else {
        value.to_owned()
    })
}

/// Runs cargo to its end and hands back what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<Result<Vec<u8>, String>, Failure> {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().map_err(|error| not_started(&error))?;
    Ok(if status.success() {
        Ok(stdout)
    } else {
        Err(String::from_utf8_lossy(&stderr).into_owned())
    })
}

/// The error for a cargo that cannot be started.
pub(crate) fn not_started(error: &std::io::Error) -> Failure {
    Failure::usage(format!(
        "could not run `{}`: {error}",
        program().to_string_lossy()
    ))
    .help("install Rust, or name a built program with skills as the target")
}

/// The machine's own target triple, as the toolchain of a directory says.
pub(crate) fn host_triple(directory: &Path) -> Result<String, Failure> {
    let mut command = Command::new(program());
    command.current_dir(directory).arg("-vV");
    let said = output(&mut command)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&said);
    match text.lines().find_map(|line| line.strip_prefix("host: ")) {
        Some(triple) => Ok(triple.to_owned()),
        None => Err(Failure::usage(
            "cargo did not say which machine it runs on (`cargo -vV`)",
        )),
    }
}

fn program() -> OsString {
    env::var_os("CARGO")
        .filter(|path| !path.is_empty())
        .unwrap_or_else(|| "cargo".into())
}

/// Whether two paths lead to one file.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_separated_by_space_or_comma() {
        let args = CargoArgs {
            features: vec!["a b,c".to_owned(), "d".to_owned()],
            ..CargoArgs::default()
        };
        assert_eq!(args.feature_names().collect::<Vec<_>>(), ["a", "b", "c", "d"]);
    }

    #[test]
    fn frozen_is_locked_and_offline() {
        let args = CargoArgs {
            frozen: true,
            ..CargoArgs::default()
        };
        assert!(args.is_locked());
        assert_eq!(args.network(), Network::Refused);
    }

    #[test]
    fn paths_hold_in_any_directory() {
        let args = CargoArgs {
            target_dir: Some("out".into()),
            config: vec!["Cargo.toml".to_owned(), "build.jobs=1".to_owned()],
            ..CargoArgs::default()
        };
        let args = args.absolute().unwrap();
        assert!(args.target_dir.unwrap().is_absolute());
        assert!(Path::new(&args.config[0]).is_absolute());
        assert_eq!(args.config[1], "build.jobs=1");
    }
}
