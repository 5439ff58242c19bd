//! `docs/reference/compile-errors.md` is true: what it calls wrong gets the message above it, what it calls right is accepted.

use std::fmt::Write;

use super::{errors, tokens};

/// The arguments that a line of arguments is put into, unless it has them itself.
const REQUIRED: [(&str, &str); 3] = [
    ("version", "\"1\""),
    ("side_effects", "\"none\""),
    ("risk", "\"low\""),
];

/// Whether `message` is `pattern`, where `…` stands for anything.
fn fits(pattern: &str, message: &str) -> bool {
    let mut parts = pattern.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = message.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    true
}

/// The texts between fences of one kind in a section.
fn blocks<'a>(section: &'a str, kind: &str) -> impl Iterator<Item = &'a str> {
    let fence = format!("```{kind}\n");
    let parts: Vec<&str> = section.split(fence.as_str()).skip(1).collect();
    parts.into_iter().filter_map(|rest| rest.split("```").next())
}

/// One side of a comparison.
fn side(block: &str, sign: char) -> String {
    let mut text = String::new();
    for line in block.lines() {
        let (first, rest) = line.split_at(usize::from(!line.is_empty()));
        if first.is_empty() || first == " " || first.starts_with(sign) {
            writeln!(text, "{rest}").unwrap();
        }
    }
    text
}

/// The messages of one use of a macro, or of a line of arguments.
fn messages(source: &str) -> Vec<String> {
    let expansion = if let Some(rest) = source.split_once("#[skill(").map(|(_, rest)| rest) {
        let (attribute, item) = rest.split_once(")]\n").unwrap();
        super::skill(attribute, item)
    } else if let Some((attribute, item)) = source.split_once("]\n").filter(|_| source.starts_with("#[state"))
    {
        let attribute = attribute.trim_start_matches("#[state").trim_matches(['(', ')']);
        crate::state::expand(tokens(attribute), tokens(item))
    } else if let Some((_, item)) = source.split_once("#[derive(SkillFailure)]\n") {
        crate::failure::expand(tokens(item))
    } else {
        let mut attribute = "\"git.merge\"".to_owned();
        for (key, value) in REQUIRED
            .iter()
            .filter(|(key, _)| !source.contains(&format!("{key} = ")))
        {
            write!(attribute, ", {key} = {value}").unwrap();
        }
        super::skill(&format!("{attribute}, {source}"), "fn merge() {}")
    };
    errors(expansion)
        .into_iter()
        .map(|(_, message)| message)
        .collect()
}

#[test]
fn what_the_page_calls_wrong_gets_the_message_above_it() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/compile-errors.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut checked = 0;
    for section in page.split("\n## ").flat_map(|part| part.split("\n### ")) {
        let patterns: Vec<&str> = blocks(section, "text").flat_map(str::lines).collect();
        for block in blocks(section, "diff") {
            let wrong = messages(&side(block, '-'));
            assert!(!wrong.is_empty(), "nothing is wrong with\n{block}");
            for message in wrong {
                let explained = patterns.iter().any(|pattern| fits(pattern, &message));
                assert!(
                    explained,
                    "{message}\nis not explained by {patterns:#?}\nbeside\n{block}"
                );
            }
            let right = messages(&side(block, '+'));
            assert!(right.is_empty(), "{right:#?}\nis wrong with\n{block}");
            checked += 1;
        }
    }
    assert!(checked > 80, "only {checked} comparisons were found");
}
