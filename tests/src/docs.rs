//! The Rust blocks of `docs/`, as doctests.

#[doc = include_str!("../../docs/writing-skills.md")]
mod writing_skills {}

#[doc = include_str!("../../docs/authentication.md")]
mod authentication {}

#[doc = include_str!("../../docs/cli.md")]
mod cli {}

#[doc = include_str!("../../docs/local.md")]
mod local {}

#[doc = include_str!("../../docs/hosting.md")]
mod hosting {}

#[doc = include_str!("../../docs/core.md")]
mod core {}

#[doc = include_str!("../../docs/connections.md")]
mod connections {}

#[doc = include_str!("../../docs/secrets.md")]
mod secrets {}

#[doc = include_str!("../../docs/llm.md")]
mod llm {}

#[doc = include_str!("../../docs/attribute-reference.md")]
mod attribute_reference {}

#[doc = include_str!("../../docs/errors-explained.md")]
mod errors_explained {}
