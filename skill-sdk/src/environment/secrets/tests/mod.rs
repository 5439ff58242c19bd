//! Tests with real directories.

#![cfg(all(unix, feature = "runtime"))]

mod cases;
mod layout;
mod permissions;
mod race;
mod rules;
mod swaps;

use crate::error::SkillError;

/// `reason` in the details of a rejection.
fn reason(error: &SkillError) -> &str {
    error
        .details()
        .and_then(|details| details["reason"].as_str())
        .unwrap_or_default()
}
