//! The YAML files of a catalog package: written from the code, and checked against it.
//!
//! A package is a directory; each skill is one file below it, `skills/<name>.yaml`. Everything here
//! works on plain data, the document `{apiVersion, kind, key, spec}` of each skill as JSON.
//!
//! ```no_run
//! # fn example(documents: &[serde_json::Value]) -> Result<(), skill_sdk_contract::package::PackageError> {
//! use skill_sdk_contract::package::Plan;
//!
//! let plan = Plan::new("packages/acme", documents, &[])?;
//! for drift in plan.check()? {
//!     println!("{drift}");
//! }
//! for file in plan.write()?.files {
//!     println!("{}", file.path.display());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Guides: `docs/guides/ci-drift-gate.md`, `docs/guides/versions.md`. Reference: `docs/reference/contract.md`.
//!
//! What lives where:
//!
//! - `names`: what a skill's file is called, which version is the newest, which names cannot be files;
//! - `header`: the comment lines at the top of a file, and how a generated file is recognized;
//! - `export`: [`Plan`], which checks everything before anything is written;
//! - `write`: the files on disk, all or nothing;
//! - `check`: [`Drift`], what differs between the files and the code;
//! - `drift`: the differences in meaning of two documents;
//! - `diff`: the same for people, as a unified diff of canonical text;
//! - [`yaml`]: the emitter and the reader.

mod check;
mod diff;
mod drift;
mod error;
mod export;
mod files;
mod header;
mod names;
mod write;
pub mod yaml;

pub use check::{Drift, Finding};
pub use drift::Difference;
pub use error::PackageError;
pub use export::Plan;
pub use write::{Outcome, Written, WrittenFile};

#[cfg(test)]
mod tests;
