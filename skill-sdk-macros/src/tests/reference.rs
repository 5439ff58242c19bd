//! The table of arguments in the documentation is the one that the parser uses.

use std::fmt::Write;

use super::snapshots::compare;
use crate::args::keys::KEYS;

#[test]
fn the_documentation_lists_every_argument() {
    let mut text =
        "| argument | what it says | value | without it | example |\n|---|---|---|---|---|\n".to_owned();
    for key in KEYS {
        let required = if key.required { ", required" } else { "" };
        writeln!(
            text,
            "| `{}`{required} | {} | {} | {} | `{}` |",
            key.name, key.docs.purpose, key.docs.kind, key.docs.default, key.example
        )
        .unwrap();
    }
    compare("keys.md", &text);
}

#[test]
fn every_argument_is_found_by_each_of_its_names() {
    for key in KEYS {
        for name in key.meant_by {
            assert_eq!(
                crate::args::keys::meant(name).map(|found| found.name),
                Some(key.name),
                "{name}"
            );
            assert!(
                crate::args::keys::find(name).is_none(),
                "{name} is an argument of its own"
            );
        }
    }
}
