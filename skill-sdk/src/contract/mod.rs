//! The v1 contract of a skill as plain data, and the rules it must keep. No I/O, nothing asynchronous.

pub mod check;
mod description;
mod document;
mod implementation;
pub mod json;
mod origin;
mod policy;
pub mod schema;

pub(crate) use self::description::first_paragraph;
pub use self::document::{API_VERSION, Contract, CostModel, Spec};
pub use self::implementation::{Auth, Implementation};
pub use self::origin::Origin;
pub use self::policy::{Idempotency, RetryPolicy, Risk, SideEffects, UnknownWord};
