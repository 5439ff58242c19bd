//! The table of arguments in the documentation is the one that the parser uses.

use std::fmt::Write;

use super::snapshots::compare;
use crate::args::keys::{KEYS, Key};
use crate::args::words::Words;

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

/// The text of `docs/attribute-reference.md` before the arguments.
const START: &str = "\
# Arguments of `#[skill(…)]`

The first argument is the name of the skill, a text. All others are `key = value`, in any order. `version`, `side_effects` and
`risk` are required. A word, such as `low`, may stand in quotes or without.

```rust
# use skill_sdk::skill;
/// Merges a branch into its target.
#[skill(\"git.merge\", version = \"2\", side_effects = \"external_write\", risk = medium, idempotency = \"natural\")]
fn merge(branch: String) -> bool {
    !branch.is_empty()
}
```

An editor with rust-analyzer completes the arguments and their words, and shows what is said here.
[writing-skills.md](writing-skills.md) has the shapes of the function, and [errors-explained.md](errors-explained.md) every
message. The tests write this page from the table that the macro itself uses, and compile every example.
";

/// An example as a whole program.
fn example(key: &Key) -> String {
    // A path of the library needs something that re-exports it.
    let (setup, attribute, value) = if key.name == "crate" {
        ("mod sdk {\n    pub use skill_sdk::*;\n}\n\n", "sdk::skill", "sdk")
    } else {
        ("# use skill_sdk::skill;\n", "skill", key.example)
    };
    let mut arguments = vec!["\"git.merge\"".to_owned()];
    let others = KEYS
        .iter()
        .filter(|other| other.required && other.name != key.name);
    arguments.extend(others.map(|other| format!("{} = {}", other.name, other.example)));
    arguments.push(format!("{} = {value}", key.name));
    let explicit = ["inputs_schema", "outputs_schema"].contains(&key.name);
    let (taken, given) = if explicit {
        ("inputs: serde_json::Value", "inputs")
    } else {
        ("branch: String", "branch")
    };
    let returned = if explicit { "serde_json::Value" } else { "String" };
    format!(
        "```rust\n{setup}/// Merges a branch.\n#[{attribute}(\n    {},\n)]\nfn merge({taken}) -> {returned} {{\n    {given}\n}}\n```\n",
        arguments.join(",\n    ")
    )
}

fn list(words: Words, depth: usize, text: &mut String) {
    for word in words {
        writeln!(text, "{}- `{}`: {}", "  ".repeat(depth), word.name, word.doc).unwrap();
        list(word.parts, depth + 1, text);
    }
}

#[test]
fn the_reference_has_every_argument() {
    let mut text = START.to_owned();
    for key in KEYS {
        let required = if key.required { " (required)" } else { "" };
        write!(
            text,
            "\n## `{}`{required}\n\nSays {}.\n\n",
            key.name, key.docs.purpose
        )
        .unwrap();
        write!(
            text,
            "- value: {}\n- without it: {}\n",
            key.docs.kind, key.docs.default
        )
        .unwrap();
        if !key.words.is_empty() {
            text.push_str("\nThe words:\n\n");
            list(key.words, 0, &mut text);
        }
        write!(text, "\n{}", example(key)).unwrap();
    }
    compare("../../docs/attribute-reference.md", &text);
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
