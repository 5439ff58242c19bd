//! How the command line tool learns what skills a program has.
//!
//! The tool runs the program as `PROGRAM __skill-sdk-describe OUT` and reads an [`Envelope`] from the file `OUT`, since a
//! skill may print while it is described. For everything else it runs the program with the arguments that it was given itself.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

#[cfg(feature = "host")]
use super::command::Failure;
pub use crate::registry::RegistryProblem as Problem;

/// The version of this protocol. The CLI rejects a program with another version.
pub const PROTOCOL: u32 = 1;

/// The hidden first argument that makes a program describe its skills.
pub const DESCRIBE: &str = "__skill-sdk-describe";

/// All skills of a program.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// [`PROTOCOL`] of the program.
    pub protocol: u32,
    /// The version of `skill-sdk` that the program was built with.
    pub sdk: String,
    /// The skills, sorted by name and version.
    pub skills: Vec<SkillEntry>,
    /// What makes the set of skills unusable: nothing but reporting it may be done while there is one.
    pub problems: Vec<Problem>,
    /// The features of `skill-sdk` that the program was built with, of those that a command needs.
    #[serde(default)]
    pub features: Vec<String>,
}

#[cfg(feature = "host")]
impl Envelope {
    /// Fails with every problem of the program: while there is one, nothing but reporting it may be done.
    pub fn usable(&self) -> Result<(), Failure> {
        if self.problems.is_empty() {
            return Ok(());
        }
        let lines: Vec<_> = self.problems.iter().map(ToString::to_string).collect();
        Err(Failure::no("the skills cannot be used").detail(lines.join("\n")))
    }
}

/// One skill of an [`Envelope`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SkillEntry {
    /// `name@version`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The name of the skill.
    pub name: String,
    /// The version of the skill.
    pub version: String,
    /// The entrypoint in the notation of the contract: `acme_skills.reports:build`.
    pub entrypoint: String,
    /// The Rust path of the function: `acme_skills::reports::build`.
    pub path: String,
    /// The cargo package that declares the skill.
    pub package: String,
    /// The version of that package.
    pub package_version: String,
    /// The source file of the declaration, as the compiler named it.
    pub file: String,
    /// The line of the declaration, from 1.
    pub line: u32,
    /// The spec of the catalog object: `version`, `description`, `sideEffects`, `riskLevel`, `contract`.
    pub spec: Value,
    /// Whether the schema of the inputs was given by hand and not made from types.
    #[serde(default)]
    pub inputs_given: bool,
    /// The metadata beside the contract (`title`, `tags`, `secrets`, `config`, `hosts`, `examples`, `deprecated`).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}
