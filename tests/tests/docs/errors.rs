//! `docs/reference/compile-errors.md` has every message of `ui/`, and `docs/reference/error-codes.md` every code of the sources.

use std::collections::BTreeSet;
use std::fs;

use super::{root, rows, text};

/// The first line of every error of `ui/`, without `error:` or `error[…]:`.
fn messages() -> BTreeSet<String> {
    let mut messages = BTreeSet::new();
    for folder in fs::read_dir(root().join("tests/tests/ui")).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "stderr") {
                let text = fs::read_to_string(&path).unwrap();
                let errors = text.lines().filter(|line| line.starts_with("error"));
                messages.extend(errors.filter_map(|line| Some(line.split_once(": ")?.1.to_owned())));
            }
        }
    }
    assert!(
        messages.len() > 100,
        "only {} messages were found",
        messages.len()
    );
    messages
}

/// Whether `message` is `pattern`, where `…` stands for anything.
fn fits(pattern: &str, message: &str) -> bool {
    let mut parts = pattern.split('…').collect::<Vec<_>>();
    let last = parts.pop().unwrap_or_default();
    let mut rest = message;
    for (index, part) in parts.iter().enumerate() {
        match rest.find(part) {
            Some(at) if at == 0 || index > 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    if parts.is_empty() {
        rest == last
    } else {
        rest.ends_with(last)
    }
}

#[test]
fn every_message_is_explained_and_every_explanation_is_needed() {
    let page = text("docs/reference/compile-errors.md");
    let blocks = page
        .split("```text\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next());
    let patterns: Vec<&str> = blocks.flat_map(str::lines).collect();
    let messages = messages();
    for message in &messages {
        assert!(
            patterns.iter().any(|pattern| fits(pattern, message)),
            "not explained: {message}"
        );
    }
    for pattern in patterns {
        assert!(
            messages.iter().any(|message| fits(pattern, message)),
            "no longer a message: {pattern}"
        );
    }
}

/// The words between `start` and the next double quote.
fn words(source: &str, start: &str) -> Vec<String> {
    let ends = source.split(start).skip(1);
    ends.filter_map(|rest| rest.split('"').next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_code_is_explained() {
    let mut codes = BTreeSet::new();
    codes.extend(words(
        &text("skill-sdk/contract/src/validation/violation.rs"),
        ": &str = \"",
    ));
    // The codes of problems stand alone on their line, or behind the skill.
    for file in ["problem.rs", "skill.rs", "collect.rs"] {
        let source = text(&format!("skill-sdk/src/registry/{file}"));
        let code = source
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default()
            .to_owned();
        let quoted = code.split('"').skip(1).step_by(2).map(str::to_owned);
        codes.extend(
            quoted.filter(|word| {
                word.contains('_') && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
            }),
        );
    }
    for code in [
        "duplicate_skill",
        "duplicate_state",
        "invalid_examples",
        "payload_too_deep",
    ] {
        assert!(
            codes.contains(code),
            "codes are written in another way now: {codes:?}"
        );
    }
    let page = text("docs/reference/error-codes.md");
    let mut explained: BTreeSet<&str> = BTreeSet::new();
    for line in page.lines().filter(|line| line.starts_with("###")) {
        explained.extend(line.split('`').skip(1).step_by(2));
    }
    let rows = rows("docs/reference/error-codes.md", "code");
    explained.extend(rows.iter().map(|row| row[0].as_str()));
    let missing: Vec<&String> = codes
        .iter()
        .filter(|code| !explained.contains(code.as_str()))
        .collect();
    assert!(missing.is_empty(), "not explained: {missing:?}");
    for row in &rows {
        assert!(
            row.len() == 5 && !row[3].is_empty() && !row[4].is_empty(),
            "cause and remedy of {}",
            row[0]
        );
    }
}
