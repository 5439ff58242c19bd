//! The v1 contract of a skill as plain data, and the rules it must keep. No I/O, nothing asynchronous.

pub(crate) use skill_sdk_contract::first_paragraph;
pub(crate) use skill_sdk_contract::rules::compare_versions;
#[cfg(feature = "runtime")]
pub(crate) use skill_sdk_contract::types::Types;
pub use skill_sdk_contract::{
    API_VERSION, Auth, Contract, CostModel, Idempotency, Implementation, Origin, RetryPolicy, Risk, Severity,
    SideEffects, Spec, Stage, Violation, code, json, normalize, schema, validate, validate_name,
    validate_spec,
};
