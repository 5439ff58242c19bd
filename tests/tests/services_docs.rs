//! The tables of the pages about the services of the context say what the code says, in both directions: variables, codes,
//! reasons, limits.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a panic in a test is a failed test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A page, and the folders of the context that it is about.
const PAGES: [(&str, &[&str]); 4] = [
    ("secrets.md", &["secrets"]),
    ("llm.md", &["llm", "pii", "web"]),
    ("core.md", &["core", "web"]),
    ("connections.md", &["connections"]),
];

/// The methods of the context that give the clients of a folder to skills.
const METHODS: [(&str, &str); 4] = [
    ("core", "artifacts.rs"),
    ("connections", "connection.rs"),
    ("core", "knowledge.rs"),
    ("llm", "llm.rs"),
];

/// Codes of `web`, which only some of its users can meet: a page lists them when one of its own folders has a use for them.
const SHARED_CODES: [(&str, &str); 1] = [("config_invalid", "core.md")];

/// Codes that the core itself gives, and that have a type of their own here.
const CODES_OF_THE_CORE: [(&str, &str); 1] = [("snapshot_stale", "core.md")];

/// Capitals that are no variables of a host: the method of a request, the version of this crate.
const NO_VARIABLES: [&str; 2] = ["POST", "CARGO_PKG_VERSION"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of folders of the platform's clients, by path, without comments and tests.
fn files(folders: &[&str]) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let sources = root().join("skill-sdk/src");
    for folder in folders {
        let layer = if *folder == "secrets" {
            "environment"
        } else {
            "platform"
        };
        read(&sources.join(layer).join(folder), folder, &mut files);
        for (of, method) in METHODS.iter().filter(|(of, _)| of == folder) {
            let text = fs::read_to_string(sources.join("context").join(method)).unwrap();
            files.insert(format!("{of}/{method}"), without_comments(&text));
        }
    }
    assert!(files.len() > 4, "the code is where this test looks for it");
    files
}

fn read(folder: &Path, name: &str, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let own = path.file_stem().unwrap().to_string_lossy().into_owned();
        let name = format!("{name}/{own}");
        if path.is_dir() && own != "tests" {
            read(&path, &name, files);
        } else if path.is_file() && own != "tests" {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            files.entry(name).or_default().push_str(&without_comments(code));
        }
    }
}

fn without_comments(code: &str) -> String {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
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
    let rows = table(page, column);
    let names: BTreeSet<_> = rows.iter().map(|row| row[0].clone()).collect();
    assert_eq!(names.len(), rows.len(), "{page} lists something twice");
    names
}

/// The text between double quotes that `code` begins with.
fn literal(code: &str) -> Option<&str> {
    code.trim_start().strip_prefix('"')?.split('"').next()
}

/// The texts that stand behind `start`.
fn literals<'a>(code: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    code.split(start).skip(1).filter_map(literal)
}

#[test]
fn variables() {
    for (page, folders) in PAGES {
        let code: String = files(folders).into_values().collect();
        let capitals = |word: &&str| {
            let allowed = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
            word.len() >= 4 && word.bytes().all(allowed) && !NO_VARIABLES.contains(word)
        };
        let found = code.lines().flat_map(|line| line.split('"').skip(1).step_by(2));
        let mut found: BTreeSet<_> = found.filter(capitals).map(str::to_owned).collect();
        if page == "connections.md" {
            // Those of the core are on its page.
            let of_core = first("core.md", "variable");
            found.retain(|name| !of_core.contains(name));
        }
        assert_eq!(first(page, "variable"), found, "{page}");
    }
}

#[test]
fn codes() {
    for (page, folders) in PAGES {
        let code: String = files(folders).into_values().collect();
        let made = |maker| -> BTreeSet<&str> { literals(&code, maker).collect() };
        let (terminal, retryable) = (made("terminal("), made("retryable("));
        let mut found: BTreeSet<_> = terminal.union(&retryable).copied().collect();
        for (shared, of) in SHARED_CODES {
            assert!(page != of || found.contains(shared), "{page} has no {shared}");
            if page != of {
                found.remove(shared);
            }
        }
        found.extend(
            CODES_OF_THE_CORE
                .iter()
                .filter(|(_, of)| *of == page)
                .map(|(code, _)| code),
        );
        assert!(found.len() > 3, "{page}: the codes are made in another way now");
        let listed = table(page, "code");
        for row in &listed {
            let code = row[0].as_str();
            // What is there both ways is explained in words.
            let expected = match (terminal.contains(code), retryable.contains(code)) {
                (true, false) => Some("no"),
                (false, true) => Some("yes"),
                _ => None,
            };
            if let Some(expected) = expected {
                assert_eq!(row[1], expected, "{page}: whether {code} is retryable");
            }
        }
        let found: BTreeSet<_> = found.into_iter().map(str::to_owned).collect();
        assert_eq!(first(page, "code"), found, "{page}");
    }
}

#[test]
fn reasons() {
    let code: String = files(&["secrets"]).into_values().collect();
    let found: BTreeSet<_> = literals(&code, "rejected(").map(str::to_owned).collect();
    assert_eq!(first("secrets.md", "`details.reason`"), found);

    let code: String = files(&["connections"]).into_values().collect();
    let mut found: BTreeSet<_> = literals(&code, "unavailable(").map(str::to_owned).collect();
    // Those that the store itself is not the reason of stand in the row of their code.
    found.extend(literals(&code, "\"reason\":").map(str::to_owned));
    assert!(code.contains("\"status_{status}\""));
    found.insert("status_<n>".to_owned());
    assert_eq!(first("connections.md", "`details.reason`"), found);
    let row = table("connections.md", "code");
    let row = row.iter().find(|row| row[0] == "connection_expired").unwrap();
    for reason in literals(&code, "lost(key, ") {
        assert!(row[2].contains(reason), "{reason}");
    }
}

#[test]
fn limits() {
    for (page, folders) in PAGES {
        let files = files(folders);
        let mut listed = BTreeSet::new();
        for row in table(page, "limit") {
            let (folder, name) = row[2].rsplit_once("::").unwrap_or(("", &row[2]));
            let of: Vec<_> = files
                .iter()
                .filter(|(file, _)| folder.is_empty() || file.split('/').any(|part| part == folder))
                .filter_map(|(file, code)| Some((file.clone(), constant(code, name)?)))
                .collect();
            let [(file, value)] = of.as_slice() else {
                panic!("{page}: {} is {} constants: {of:?}", row[2], of.len());
            };
            assert_eq!(row[1].parse::<u64>().ok(), Some(*value), "{page}: {}", row[2]);
            assert!(
                listed.insert((file.clone(), name.to_owned())),
                "{page}: {}",
                row[2]
            );
        }
        // All that are lengths, sizes and times are in the table.
        for (file, code) in &files {
            for line in code.lines() {
                let Some((_, constant_)) = line.split_once("const ") else {
                    assert!(
                        !has_a_hidden_limit(line),
                        "give the number a name: {file}: {line}"
                    );
                    continue;
                };
                let name = constant_.split(':').next().unwrap();
                if constant(code, name).is_some() {
                    let known = listed.contains(&(file.clone(), name.to_owned()));
                    assert!(known, "{page} does not list {name} of {file}");
                }
            }
        }
    }
}

/// Whether a line has a length or a time without a name.
fn has_a_hidden_limit(line: &str) -> bool {
    let starts = [
        ".take(",
        ".truncate(",
        "from_secs(",
        "from_millis(",
        "from_mins(",
        "from_hours(",
    ];
    let number = |rest: &str| rest.starts_with(|first: char| first.is_ascii_digit());
    starts.iter().any(|start| line.split(start).skip(1).any(number))
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
        .map(|factor| factor.trim_end_matches(".0").replace('_', "").parse::<u64>());
    let product: Result<u64, _> = factors.product();
    product.ok().map(|product| product * unit)
}
