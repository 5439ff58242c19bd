//! Addresses of e-mail in Latin letters.
//!
//! What is found is that of `\b[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}\b` without regard to case. The search goes from each
//! `@` outward: a regular expression would begin at every word of the text again.

use std::ops::Range;

/// All addresses of `text`, in order.
pub(super) fn find_all(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in text.match_indices('@') {
        let free = found.last().map_or(0, |last| last.end);
        // An `@` inside of the last address cannot be: a domain holds none.
        let address = text
            .get(free..at)
            .and_then(|before| Some(free + start(before, text, free)?))
            .and_then(|start| Some(start..at + 1 + end(text.get(at + 1..)?)?));
        found.extend(address);
    }
    found
}

/// Where the local part before an `@` begins in `before`, which starts at `offset` of `text`: at the first boundary of a
/// word in the run of its letters.
fn start(before: &str, text: &str, offset: usize) -> Option<usize> {
    let run = before
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_letter(*c) || c.is_ascii_digit() || "._%+-".contains(*c))
        .last()?
        .0;
    let mut previous = text.get(..offset + run)?.chars().next_back();
    for (at, c) in before.get(run..)?.char_indices() {
        if previous.is_some_and(is_word) != is_word(c) {
            return Some(run + at);
        }
        previous = Some(c);
    }
    None
}

/// Where the domain after an `@` ends: behind the last part of two or more letters that ends with a word.
fn end(after: &str) -> Option<usize> {
    let is_domain = |c: char| is_letter(c) || c.is_ascii_digit() || c == '.' || c == '-';
    let length = after.find(|c| !is_domain(c)).unwrap_or(after.len());
    let run = after.get(..length)?;
    for (dot, _) in run.rmatch_indices('.') {
        let rest = after.get(dot + 1..)?;
        let letters = rest.find(|c| !is_letter(c)).unwrap_or(rest.len());
        let ends = !rest.get(letters..)?.starts_with(is_word);
        if dot > 0 && ends && rest.get(..letters)?.chars().nth(1).is_some() {
            return Some(dot + 1 + letters);
        }
    }
    None
}

/// A Latin letter, or one that is the same as one without regard to case: the Kelvin sign and the long s.
fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '\u{212a}' || c == '\u{17f}'
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_what_the_regular_expression_finds() {
        let table: &[(&str, &[&str])] = &[
            ("a@b.ru", &["a@b.ru"]),
            ("a@b.ru@c.de", &["a@b.ru"]),
            ("a@b@c.de", &["b@c.de"]),
            ("x a@b.co.uk.", &["a@b.co.uk"]),
            ("a@b.com-x", &["a@b.com"]),
            ("a@b.com.c0m", &["a@b.com"]),
            ("a@b.com_", &[]),
            ("a@.com", &[]),
            ("a@-.com", &["a@-.com"]),
            ("@b.ru", &[]),
            ("%@b.ru", &[]),
            ("a%@b.ru", &["a%@b.ru"]),
            // There is no boundary before `a`, but one before the dot.
            ("яa.b@c.de", &[".b@c.de"]),
            ("a@b.c", &[]),
            ("a@b.cd1", &[]),
            ("a@b.ruя", &[]),
        ];
        for (text, expected) in table {
            let found: Vec<_> = find_all(text).into_iter().map(|at| &text[at]).collect();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
