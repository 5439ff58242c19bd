//! The table of arguments in the documentation is the one that the parser uses.

use std::fmt::Write;

use super::snapshots::compare;
use crate::args::keys::KEYS;

#[test]
fn the_documentation_lists_every_argument() {
    let mut text = "| argument | what it says | example |\n|---|---|---|\n".to_owned();
    for key in KEYS {
        let required = if key.required { ", required" } else { "" };
        let doc = key.doc.replace('|', "\\|");
        writeln!(text, "| `{}`{required} | {doc} | `{}` |", key.name, key.example).unwrap();
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
