//! The sources of the description.

use skill_sdk::{Skill, skill};

use super::document;

/// Merges a published branch
/// into its **target**.
///
/// Not in the description.
#[skill("docs.comment", version = "1", side_effects = "none", risk = "low")]
fn comment() {}

#[skill("docs.below", version = "1", side_effects = "none", risk = "low")]
/// Merges a branch.
fn below() {}

/**
 * Merges a branch
 * into its target.
 */
#[skill("docs.block", version = "1", side_effects = "none", risk = "low")]
fn block() {}

#[doc = include_str!("description.md")]
#[skill("docs.file", version = "1", side_effects = "none", risk = "low")]
fn file() {}

#[doc = concat!("Merges ", "a branch.")]
#[skill("docs.macros", version = "1", side_effects = "none", risk = "low")]
fn macros() {}

#[cfg_attr(all(), doc = "Merges a branch.")]
#[cfg_attr(any(), doc = "Never.")]
#[skill("docs.conditional_above", version = "1", side_effects = "none", risk = "low")]
fn conditional_above() {}

#[skill("docs.conditional_below", version = "1", side_effects = "none", risk = "low")]
#[cfg_attr(any(), doc = "Never.")]
#[cfg_attr(all(), doc = "Merges", doc = "a branch.")]
fn conditional_below() {}

#[skill("docs.argument", version = "1", side_effects = "none", risk = "low", description = include_str!("description.md"))]
fn argument() {}

#[test]
fn doc_comments_become_the_description() {
    let table: &[(&'static Skill, &str)] = &[
        (comment::SKILL, "Merges a published branch into its **target**."),
        (below::SKILL, "Merges a branch."),
        (block::SKILL, "Merges a branch into its target."),
        (file::SKILL, "Merges a published branch into its target."),
        (macros::SKILL, "Merges a branch."),
        (conditional_above::SKILL, "Merges a branch."),
        (conditional_below::SKILL, "Merges a branch."),
    ];
    for (skill, description) in table {
        assert_eq!(document(skill)["description"], *description, "{}", skill.name());
    }
    let whole = document(argument::SKILL)["description"].as_str().unwrap();
    assert!(whole.starts_with("Merges a published branch"), "{whole}");
}
