//! The real tool on small workspaces: one module a theme, one test a pitfall that users of such tools have met.

mod cargo;
mod commands;
mod fixture;
mod linking;
mod targets;
