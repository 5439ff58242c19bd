//! The real tool on small workspaces: one module a theme, one test a pitfall that users of such tools have met.

// Helpers of tests fail loudly, as the tests do.
#![allow(clippy::unwrap_used)]

mod cargo;
mod commands;
mod fixture;
mod linking;
mod neighbours;
mod targets;
