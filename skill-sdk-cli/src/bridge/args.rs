//! The arguments of `bridge`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `bridge python`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BridgePythonArgs {
    /// Directory of the modules, which must be in the PYTHONPATH of the executor
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Compare only: exit with 1 and show the differences if code and modules differ
    #[arg(long)]
    pub(crate) check: bool,

    /// Path of the program at run time, instead of a copy beside the modules
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,
}
