//! What TARGETS mean.
//!
//! - [`metadata`] what cargo says about a workspace
//! - [`place`] a target as written: a path, or a word
//! - [`plan`] from all targets to the programs that must exist
//! - [`linkage`] which packages can be linked, which bring a program of their own, and which can do neither

pub(crate) mod linkage;
pub(crate) mod metadata;
mod place;
pub(crate) mod plan;

pub(crate) use linkage::Group;
pub(crate) use metadata::{HostBinary, Package, SKILL_SDK, Workspace};
pub(crate) use plan::{Plan, resolve};
