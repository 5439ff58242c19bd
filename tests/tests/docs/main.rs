//! The pages of `docs/` match the code, and are written as `CONTRIBUTING.md` asks.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic of a test program is a failed test"
)]

mod errors;
mod links;
mod platform;
mod style;
mod tables;

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The text of a file of the repository.
fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn is_markdown(path: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|extension| extension == "md")
}

/// All pages below `docs`, as paths from the root of the repository, in order.
fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    for folder in ["docs", "docs/guides", "docs/reference", "docs/explanation"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let known = ["guides", "reference", "explanation"].contains(&name.as_str());
            assert!(is_markdown(&name) || known, "{folder}/{name} is not a page");
            if is_markdown(&name) {
                pages.push(format!("{folder}/{name}"));
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 30, "{pages:?}");
    pages
}

/// The rows of all tables of a page whose first column is `column`, as cells without backticks.
fn rows(page: &str, column: &str) -> Vec<Vec<String>> {
    let text = text(page);
    let head = format!("| {column} |");
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    let row = |row: &str| row.trim().trim_matches('|').split('|').map(cell).collect();
    let tables = text
        .split("\n\n")
        .filter(|block| block.trim_start().starts_with(&head));
    let rows: Vec<_> = tables
        .flat_map(|table| table.trim().lines().skip(2).map(row))
        .collect();
    assert!(
        !rows.is_empty(),
        "{page} has no table whose first column is `{column}`"
    );
    rows
}

/// Lines of Markdown outside of code blocks, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            return None;
        }
        (!is_code).then_some((index + 1, line))
    })
}

/// A line without its code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}
