//! Every message that the macros hold has a UI test, and so is explained in `docs/reference/compile-errors.md`: another test
//! holds that page against the UI tests.

#![allow(clippy::unwrap_used, reason = "a panic of a test program is a failed test")]

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};

/// What the tables of arguments and words say is for the documentation and for editors.
const TABLES: &[&str] = &["args/keys.rs", "args/words.rs"];

/// Texts of what is generated.
const GENERATED: &[&str] = &[
    "The skill `…@…`; `SKILL` is its handle.",
    " The handle of the skill `…@…`.",
];

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found
}

/// The string literals of a source, but for those of attributes and doc comments.
fn texts(tokens: TokenStream, found: &mut Vec<String>) {
    let mut in_attribute = false;
    for token in tokens {
        match token {
            TokenTree::Group(group) if !in_attribute => texts(group.stream(), found),
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse2::<syn::LitStr>(TokenTree::from(literal).into()) {
                    found.push(text.value());
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '#' || (in_attribute && punct.as_char() == '!') => {
                in_attribute = true;
                continue;
            }
            _ => {}
        }
        in_attribute = false;
    }
}

/// A format string with `…` for what it is filled with.
fn pattern(format: &str) -> String {
    let mut pattern = String::new();
    let mut letters = format.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '{' | '}' if letters.peek() == Some(&letter) => {
                letters.next();
                pattern.push(letter);
            }
            '{' => {
                let _name = letters.by_ref().take_while(|letter| *letter != '}').count();
                pattern.push('…');
            }
            other => pattern.push(other),
        }
    }
    pattern
}

/// Whether the parts of the pattern are in the line, in their order.
fn is_in(pattern: &str, line: &str) -> bool {
    let mut rest = line;
    pattern.split('…').all(|part| match rest.find(part) {
        Some(at) => {
            rest = rest.get(at + part.len()..).unwrap_or_default();
            true
        }
        None => false,
    })
}

#[test]
fn every_message_has_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ui: Vec<String> = files(&root.join("../tests/tests/ui"), "stderr")
        .iter()
        .flat_map(|path| {
            fs::read_to_string(path)
                .unwrap()
                .lines()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|line| line.starts_with("error"))
        .collect();
    let (mut messages, mut untested) = (0, Vec::new());
    for path in files(&root.join("src"), "rs") {
        let name = path
            .strip_prefix(root.join("src"))
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/");
        if TABLES.contains(&name.as_str()) {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        let mut found = Vec::new();
        texts(source.parse().unwrap(), &mut found);
        // Shorter texts are names and parts of sentences.
        let sentences = found
            .iter()
            .map(|text| pattern(text))
            .filter(|text| text.len() > 21 && text.contains(' '));
        for message in sentences.filter(|text| !GENERATED.contains(&text.as_str())) {
            messages += 1;
            if !ui.iter().any(|line| is_in(&message, line)) {
                untested.push(format!("{name}: {message}"));
            }
        }
    }
    assert!(
        messages > 100,
        "messages are written in another way now: {messages}"
    );
    assert!(untested.is_empty(), "without a test:\n{}", untested.join("\n"));
}
