//! The arguments of `bridge`.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `bridge python`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BridgePythonArgs {
    /// The directory for the modules, to be put on the path of Python
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Write nothing; exit with 1 and say what differs when the code and the modules disagree
    #[arg(long)]
    pub(crate) check: bool,

    /// Where the program with the skills will be when it is called, instead of a copy of it beside the modules
    #[arg(long, value_name = "PATH")]
    pub(crate) program: Option<PathBuf>,
}
