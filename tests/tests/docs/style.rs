//! Pages use the standard terms, and are short.

use super::{pages, prose, text, without_code};

/// Phrases that have a standard term, or that hide who does what. They are looked for in prose, in lower case, at the borders of words.
const PHRASES: [(&str, &str); 61] = [
    ("refuse", "reject, deny"),
    ("refuses", "rejects, denies"),
    ("refused", "rejected, denied"),
    ("refusing", "rejecting, denying"),
    ("refusal", "rejection"),
    ("refusals", "rejections"),
    ("nobody", "name the subject"),
    ("somebody", "the caller, the user, another writer"),
    ("whoever", "name the subject"),
    ("in place of", "instead of"),
    ("in its place", "instead"),
    ("goes away", "disconnects"),
    ("went away", "disconnected"),
    ("gone away", "disconnected"),
    ("time is up", "times out"),
    ("old era", "initialize-based revisions"),
    ("new era", "stateless revision"),
    ("eras", "revisions"),
    ("is none", "is not"),
    ("are none", "are not"),
    ("is no", "is not"),
    ("are no", "are not"),
    ("was no", "was not"),
    ("were no", "were not"),
    ("a repeat", "a retry"),
    ("the repeat", "the retry"),
    ("repeats may", "retries may"),
    ("remembered", "cached"),
    ("stand-in", "mock"),
    ("stand-ins", "mocks"),
    ("test double", "mock"),
    ("personal-data guard", "PII redaction"),
    ("says so", "name what it says"),
    ("tells so", "name what it says"),
    ("counts for", "name the effect"),
    ("the answer", "the response"),
    ("an answer", "a response"),
    ("answers with", "responds with"),
    ("keeps the contract", "conforms to the contract"),
    ("keep the contract", "conform to the contract"),
    ("keeps its thread", "blocks its thread"),
    ("keeps its place", "keeps its concurrency slot"),
    ("lines of json", "newline-delimited JSON"),
    ("is no object", "is not an object"),
    ("member", "field"),
    ("members", "fields"),
    ("the host", "the server"),
    ("a host", "a server"),
    ("every host", "every server"),
    ("each host", "each server"),
    ("hosts on a port", "servers"),
    ("program of your own", "your own binary"),
    ("program of the author's", "the author's own binary"),
    ("head of a request", "request headers"),
    ("heads of requests", "request headers"),
    ("white space", "whitespace"),
    ("who gets in", "authentication"),
    ("lets everybody in", "is anonymous"),
    ("stands in", "is in"),
    ("stand in", "are in"),
    ("stands beside", "is beside"),
];

/// Places of a phrase that are right: words of the wire, or quotes.
const ALLOWED: [(&str, &str); 0] = [];

/// Pages that a reader looks up a word in, and does not read from top to bottom.
const LOOKED_UP: [&str; 3] = [
    "docs/reference/attribute.md",
    "docs/reference/compile-errors.md",
    "docs/reference/error-codes.md",
];

fn written() -> Vec<String> {
    let mut files = pages();
    files.extend(
        [
            "README.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
            "SECURITY.md",
            "ARCHITECTURE.md",
        ]
        .map(str::to_owned),
    );
    files
}

fn contains(line: &str, phrase: &str) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = &line[at + phrase.len()..];
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '-';
        let is_longer = [" longer", " more", " name"]
            .iter()
            .any(|next| after.starts_with(next));
        !before.is_some_and(is_word) && !after.chars().next().is_some_and(is_word) && !is_longer
    })
}

#[test]
fn prose_uses_the_standard_terms() {
    let mut found = Vec::new();
    for file in written() {
        for (number, line) in prose(&text(&file)) {
            let plain = without_code(line).to_lowercase();
            for (phrase, better) in PHRASES {
                if contains(&plain, phrase) && !ALLOWED.contains(&(file.as_str(), phrase)) {
                    found.push(format!("{file}:{number}: \"{phrase}\", write {better}: {line}"));
                }
            }
            // A question may begin like this; so does a line in the middle of a sentence, in lower case.
            let first = line.trim_start_matches(['#', '-', '*', '|', ' ']);
            let verbs = ["is", "was", "goes", "stands", "comes", "has", "cannot"];
            let is_headless = ["What", "Which", "Who"].iter().any(|word| {
                verbs
                    .iter()
                    .any(|verb| first.starts_with(&format!("{word} {verb} ")))
            });
            if is_headless && !line.contains('?') {
                found.push(format!("{file}:{number}: name the subject: {line}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn pages_are_short() {
    for file in written() {
        let lines = text(&file).lines().count();
        let most = match file.as_str() {
            file if LOOKED_UP.contains(&file) => continue,
            "README.md" => 280,
            file if file.starts_with("docs/reference/") => 320,
            _ => 200,
        };
        assert!(lines <= most, "{file} has {lines} lines, more than {most}");
    }
}

#[test]
fn each_page_has_one_title() {
    for file in written() {
        let text = text(&file);
        let titles: Vec<_> = prose(&text).filter(|(_, line)| line.starts_with("# ")).collect();
        assert!(matches!(titles.as_slice(), [(1, _)]), "{file}: {titles:?}");
    }
}
