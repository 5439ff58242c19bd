//! Everything that the macros may name. Not part of the public interface: it may change in any release.

#[cfg(rust_analyzer)]
#[path = "private/ide.rs"]
pub mod ide;

pub use inventory;
pub use schemars;
pub use serde;
pub use serde_json::Value;

pub use crate::context::{Build, SkillContext, StateDeclaration, state_asynchronous, state_blocking};
pub use crate::contract::{Idempotency, Implementation, Origin, RetryPolicy, Risk, SideEffects};
pub use crate::environment::Environment;
pub use crate::error::failure;
pub use crate::handler::{
    Derived, Explicit, FieldBounds, Handler, ReturnOf, SendFuture, SkillField, SkillValue, ValueBounds,
    Write, asynchronous, blocking, handler, kinds as returns,
};
pub use crate::registry::{Declaration, Registration, Skill, auth, http, json_text, json_value};
