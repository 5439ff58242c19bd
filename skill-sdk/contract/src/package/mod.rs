//! The YAML files of a catalog package: written from the code, and checked against it.
//!
//! A package is a directory; each skill is one file below it, `skills/<name>.yaml`. Everything here
//! works on plain data, a [`SkillDocument`]: the name, the version and the document
//! `{apiVersion, kind, key, spec}` as JSON.
//!
//! ```no_run
//! # fn example(documents: &[skill_sdk_contract::package::SkillDocument]) -> Result<(), skill_sdk_contract::package::PackageError> {
//! use skill_sdk_contract::package::Package;
//!
//! let plan = Package::open("packages/acme")?.plan(documents, &[])?;
//! for drift in plan.check()? {
//!     println!("{drift}");
//! }
//! for file in plan.write()?.files {
//!     println!("{file}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What lives where:
//!
//! - `names`: what a skill's file is called, which version is the newest, which names cannot be files;
//! - `header`: the comment lines at the top of a file, and how a generated file is recognized;
//! - `export`: [`Package`] and [`Plan`], which check everything before anything is written;
//! - `write`: the files on disk, all or nothing;
//! - `check`: [`Drift`], what differs between the files and the code;
//! - `drift`: [`compare`], the differences in meaning of two documents;
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
#[doc(hidden)]
pub mod yaml;

pub use check::{Drift, Finding};
#[doc(hidden)]
pub use diff::unified_diff;
pub use drift::Difference;
#[doc(hidden)]
pub use drift::compare;
pub use error::PackageError;
pub use export::{Package, Plan, PlannedFile, SkillDocument};
#[doc(hidden)]
pub use header::is_generated;
#[doc(hidden)]
pub use names::file_name;
pub use write::{Outcome, Written, WrittenFile};

#[cfg(test)]
mod tests;
