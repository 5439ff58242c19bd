//! The Rust blocks of `docs/`, as doctests.

#[doc = include_str!("../../docs/writing-skills.md")]
mod writing_skills {}

#[doc = include_str!("../../docs/cli.md")]
mod cli {}

#[doc = include_str!("../../docs/hosting.md")]
mod hosting {}
