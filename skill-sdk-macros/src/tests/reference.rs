//! The table of arguments in the documentation is the one that the parser uses.

use std::fmt::Write;

use super::snapshots::compare;
use crate::args::keys::{KEYS, Key};
use crate::args::words::Words;

#[test]
fn the_documentation_lists_every_argument() {
    let mut text = "| argument | meaning | value | default | example |\n|---|---|---|---|---|\n".to_owned();
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

/// The text of `docs/reference/attribute.md` before the arguments.
const START: &str = "\
# Arguments of `#[skill(…)]`

The first argument is the name of the skill, a string. All others are `key = value`, in any order. `version`, `side_effects` and `risk`
are required. An enum value, such as `low`, may be written with or without quotes.

```rust
# use skill_sdk::skill;
/// Merges a branch into its target.
#[skill(\"git.merge\", version = \"2\", side_effects = \"external_write\", risk = medium, idempotency = \"natural\")]
fn merge(branch: String) -> bool {
    !branch.is_empty()
}
```

`title`, `tags`, `secrets`, `config`, `allowed_hosts`, `examples` and `deprecated` are metadata beside the contract; the YAML file does not
contain them.

An editor with rust-analyzer completes the arguments and their values, and shows this text.
[Fields and validation](../guides/fields-and-validation.md) has the shapes of the function, and [compile-errors.md](compile-errors.md) every
message. Tests generate this page from the table that the macro itself uses, and compile every example.
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
            "\n## `{}`{required}\n\n{}.\n\n",
            key.name,
            super::editor::sentence(key.docs.purpose)
        )
        .unwrap();
        writeln!(text, "- value: {}", key.docs.kind).unwrap();
        if !key.required {
            writeln!(text, "- default: {}", key.docs.default).unwrap();
        }
        if !key.words.is_empty() {
            text.push_str("\nValues:\n\n");
            list(key.words, 0, &mut text);
        }
        write!(text, "\n{}", example(key)).unwrap();
    }
    compare("../../docs/reference/attribute.md", &text);
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
