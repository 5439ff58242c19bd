//! The tables of the pages about core and connections say what the code says: variables, codes, limits.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic of a test program is a failed test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A page, and the folder of the code that it is about.
const PAGES: [(&str, &str); 2] = [("core.md", "core"), ("connections.md", "connections")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of a folder of the context, by name, without comments and tests.
fn files(folder: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    read(&root().join("skill-sdk/src/context").join(folder), &mut files);
    assert!(files.len() > 4, "the code is where this test looks for it");
    files
}

fn read(folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            read(&path, files);
        } else if path.is_file() {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let known = files.entry(name).or_default();
            lines.for_each(|line| known.extend([line, "\n"]));
        }
    }
}

/// The rows of the one table in a page whose first column is `column`, as cells without backticks.
fn table(page: &str, column: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join("docs").join(page)).unwrap();
    let head = format!("| {column} |");
    let tables: Vec<_> = text
        .split("\n\n")
        .filter(|block| block.starts_with(&head))
        .collect();
    assert_eq!(
        tables.len(),
        1,
        "{page} holds one table whose first column is `{column}`"
    );
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    let row = |row: &str| row.trim_matches('|').split('|').map(cell).collect();
    tables[0].lines().skip(2).map(row).collect()
}

fn first(page: &str, column: &str) -> BTreeSet<String> {
    table(page, column)
        .into_iter()
        .map(|row| row[0].clone())
        .collect()
}

#[test]
fn variables() {
    for (page, folder) in PAGES {
        let code: String = files(folder).into_values().collect();
        let capitals = |word: &&str| {
            let allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
            word.len() >= 4 && word.bytes().all(allowed)
        };
        let found = code.lines().flat_map(|line| line.split('"').skip(1).step_by(2));
        let mut found: BTreeSet<_> = found.filter(capitals).map(str::to_owned).collect();
        if page != "core.md" {
            // Those of the core are on its page.
            let of_core = first("core.md", "variable");
            found.retain(|name| !of_core.contains(name));
        }
        assert_eq!(first(page, "variable"), found, "{page}");
    }
}

#[test]
fn codes() {
    for (page, folder) in PAGES {
        let code: String = files(folder).into_values().collect();
        let mut found = BTreeSet::new();
        for maker in ["terminal(", "retryable("] {
            for rest in code.split(maker).skip(1) {
                let literal = rest.trim_start().strip_prefix('"');
                found.extend(literal.and_then(|rest| rest.split('"').next()).map(str::to_owned));
            }
        }
        let mut listed = first(page, "code");
        // The client of HTTP is beside both.
        found.extend((page == "core.md").then(|| "config_invalid".to_owned()));
        assert!(listed.len() > 10);
        listed.retain(|code| !found.contains(code));
        assert!(listed.is_empty(), "{page} lists what is not there: {listed:?}");
        let listed = first(page, "code");
        let missing: Vec<_> = found.difference(&listed).collect();
        assert!(missing.is_empty(), "{page} does not list {missing:?}");
    }
}

#[test]
fn limits() {
    for (page, folder) in PAGES {
        let files = files(folder);
        let mut named = BTreeSet::new();
        for row in table(page, "limit") {
            let (file, name) = row[2].split_once("::").unwrap_or(("", &row[2]));
            let values: Vec<_> = files
                .iter()
                .filter(|(known, _)| file.is_empty() || *known == file)
                .filter_map(|(_, code)| constant(code, name))
                .collect();
            assert_eq!(values, [row[1].parse::<u64>().unwrap()], "{page}: {}", row[2]);
            named.insert(name.to_owned());
        }
        // All that are lengths, sizes and times are in the table.
        for (file, code) in &files {
            for line in code.lines().filter_map(|line| line.split("const ").nth(1)) {
                let name = line.split(':').next().unwrap();
                let exempt = ["FIRST_PAUSE", "LONGEST_PAUSE", "DEFAULT_LEASE"].contains(&name);
                if constant(code, name).is_some() && !exempt {
                    assert!(named.contains(name), "{page} does not list {name} of {file}");
                }
            }
        }
    }
}

/// The value of a constant: a product of numbers, or a duration in milliseconds. `None` when it is something else.
fn constant(code: &str, name: &str) -> Option<u64> {
    let line = code
        .lines()
        .find(|line| line.contains(&format!("const {name}:")))?;
    let value = line.split_once(" = ")?.1.trim_end_matches(';');
    let (unit, number) = match value.strip_prefix("Duration::from_") {
        None => (1, value),
        Some(rest) => {
            let (unit, number) = rest.split_once('(')?;
            let unit = match unit {
                "millis" => 1,
                "secs" => 1_000,
                "mins" => 60_000,
                _ => panic!("{line}"),
            };
            (unit, number.trim_end_matches(')'))
        }
    };
    let factors = number
        .split(" * ")
        .map(|factor| factor.replace('_', "").parse::<u64>());
    let product: Result<u64, _> = factors.product();
    product.ok().map(|product| product * unit)
}
