//! Reasons of errors and limits of the platform's clients are those of the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::{root, rows};

const FOLDERS: [&str; 6] = ["connections", "core", "llm", "pii", "secrets", "web"];

/// The methods of the context that give the clients of a folder to skills.
const METHODS: [(&str, &str); 4] = [
    ("core", "artifacts.rs"),
    ("connections", "connection.rs"),
    ("core", "knowledge.rs"),
    ("llm", "llm.rs"),
];

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

/// The text between double quotes that `code` begins with.
fn literal(code: &str) -> Option<&str> {
    code.trim_start().strip_prefix('"')?.split('"').next()
}

/// The texts that stand behind `start`.
fn literals<'a>(code: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    code.split(start).skip(1).filter_map(literal)
}

#[test]
fn reasons() {
    let documented = |code: &str| -> BTreeSet<String> {
        let rows = rows(
            "docs/reference/error-codes.md",
            &format!("`details.reason` of `{code}`"),
        );
        rows.into_iter().map(|mut row| row.swap_remove(0)).collect()
    };
    let code: String = files(&["secrets"]).into_values().collect();
    let found: BTreeSet<_> = literals(&code, "rejected(").map(str::to_owned).collect();
    assert_eq!(documented("secret_file_rejected"), found);

    let code: String = files(&["connections"]).into_values().collect();
    let mut found: BTreeSet<_> = literals(&code, "unavailable(").map(str::to_owned).collect();
    // Reasons that the store itself does not cause are in the row of their code.
    found.extend(literals(&code, "\"reason\":").map(str::to_owned));
    assert!(code.contains("\"status_{status}\""));
    found.insert("status_<n>".to_owned());
    assert_eq!(documented("secret_store_unavailable"), found);
    let rows = rows("docs/reference/error-codes.md", "code");
    let row = rows.iter().find(|row| row[0] == "connection_expired").unwrap();
    for reason in literals(&code, "lost(key, ") {
        assert!(row[3].contains(reason), "{reason}");
    }
}

#[test]
fn limits() {
    let files = files(&FOLDERS);
    for row in rows("docs/reference/limits.md", "limit") {
        let (folder, name) = row[2].rsplit_once("::").unwrap();
        let of: Vec<_> = files
            .iter()
            .filter(|(file, _)| file.split('/').any(|part| part == folder))
            .filter_map(|(file, code)| Some((file, constant(code, name)?)))
            .collect();
        let [(_, value)] = of.as_slice() else {
            panic!("{} is {} constants: {of:?}", row[2], of.len());
        };
        assert_eq!(number(&row[1]), *value, "{}", row[2]);
    }
}

/// A value with its unit: bytes, milliseconds, or things that are counted.
fn number(cell: &str) -> u64 {
    let (number, unit) = cell.split_once(' ').unwrap_or((cell, ""));
    let factor = match unit {
        "KiB" => 1024,
        "MiB" => 1024 * 1024,
        "s" => 1000,
        _ => 1,
    };
    number.parse::<u64>().unwrap() * factor
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
