#![doc = include_str!("../README.md")]
#![warn(clippy::missing_errors_doc)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod credential;
#[cfg(feature = "document")]
mod description;
#[cfg(feature = "document")]
mod document;
#[cfg(feature = "document")]
mod implementation;
#[cfg(feature = "document")]
pub mod json;
#[cfg(feature = "document")]
mod keywords;
#[cfg(feature = "document")]
mod origin;
#[cfg(feature = "package")]
pub mod package;
#[cfg(feature = "document")]
mod policy;
#[doc(hidden)]
pub mod rules;
#[cfg(feature = "document")]
pub mod schema;
#[cfg(feature = "document")]
mod text;
#[cfg(feature = "document")]
mod tree;
#[cfg(feature = "document")]
#[doc(hidden)]
pub mod types;
#[cfg(feature = "document")]
mod validation;
#[cfg(feature = "document")]
mod version;
#[cfg(feature = "document")]
mod walk;

#[cfg(feature = "document")]
#[doc(hidden)]
pub use self::{
    description::first_paragraph, keywords::is_annotation, validation::code, version::compare_versions,
    walk::bottom_up as each_schema_mut,
};
#[cfg(feature = "document")]
pub use self::{
    document::{API_VERSION, Contract, CostModel, Spec},
    implementation::{Auth, Implementation},
    origin::Origin,
    policy::{Idempotency, RetryPolicy, Risk, SideEffects},
    validation::{Severity, Stage, Violation, normalize, validate, validate_name, validate_spec},
};
