//! The arguments of `bridge`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::host::args::SkillNames;

/// The arguments of `bridge python`.
#[derive(Debug, Clone, Args)]
pub struct BridgePythonArgs {
    /// The directory for the modules, to be put on the path of Python
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,

    /// Write nothing; exit with 1 and say what differs when the code and the modules disagree
    #[arg(long)]
    pub check: bool,

    /// Where the program with the skills will be when it is called, in place of a copy of it beside the modules
    #[arg(long, value_name = "PATH")]
    pub program: Option<PathBuf>,
}

/// The languages that skills can be called from.
#[derive(Debug, Clone, Subcommand)]
#[non_exhaustive]
pub enum HostBridge {
    /// Write Python modules by which an executor finds and calls the skills
    Python {
        /// Where to, and how.
        #[command(flatten)]
        args: BridgePythonArgs,
        /// Which of them.
        #[command(flatten)]
        skills: SkillNames,
    },
}
