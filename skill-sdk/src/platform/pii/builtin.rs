//! The built-in patterns.
//!
//! The regular expressions do not use look-around, so that an automaton matches them in time linear in the length of the text.
//! The characters around a match are checked afterwards. The start of a match determines its length, so this gives the same
//! result.

use std::ops::Range;
use std::sync::LazyLock;

use fancy_regex::Regex;

/// One kind of personal data.
pub(super) struct Pattern {
    pub(super) kind: &'static str,
    expression: Regex,
    /// Whether the text before and after a match allows it.
    fits: fn(before: &str, after: &str) -> bool,
}

/// A capitalized word, also a double one: `Салтыков-Щедрин`.
const WORD: &str = "[А-ЯЁ][а-яё]+(?:-[А-ЯЁ][а-яё]+)?";

/// A capitalized word with the ending of a patronymic in the nominative.
const PATRONYMIC: &str = "[А-ЯЁ][а-яё]*(?:ич|вна|чна|шна)";

/// Two initials.
const INITIALS: &str = r"[А-ЯЁ]\.\s?[А-ЯЁ]\.";

/// `\d` of the expressions: a decimal digit of any script.
static DIGIT: LazyLock<Regex> = LazyLock::new(|| compiled(r"\d"));

/// The patterns in the order of matching.
pub(super) static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let name = |source: &str| pattern("фио", source, |_, _| true);
    vec![
        pattern("снилс", r"\d{3}-\d{3}-\d{3}[\s-]\d{2}", no_digit_beside),
        pattern(
            "паспорт",
            // Series and number, at most 20 characters after the word.
            r"(?i:паспорт|серия)\D{0,20}\d{2}\s?\d{2}\D{0,10}\d{6}",
            |_, after| !after.starts_with(is_digit),
        ),
        pattern(
            "телефон",
            r"(?:\+7|8)[\s-]{0,2}\(?\d{3}\)?[\s-]{0,2}\d{3}[\s-]?\d{2}[\s-]?\d{2}",
            no_number_around,
        ),
        pattern(
            "email",
            r"(?i)\b[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}\b",
            |_, _| true,
        ),
        name(&format!(r"\b{WORD}\s+{WORD}\s+{PATRONYMIC}\b")),
        name(&format!(r"\b{WORD}\s+{PATRONYMIC}(?:\s+{WORD})?\b")),
        name(&format!(r"\b{PATRONYMIC}\s+{WORD}\b")),
        name(&format!(r"\b{WORD}\s+{INITIALS}")),
        pattern("фио", &format!(r"{INITIALS}\s?{WORD}\b"), |before, _| {
            !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.')
        }),
    ]
});

fn pattern(kind: &'static str, source: &str, fits: fn(&str, &str) -> bool) -> Pattern {
    Pattern {
        kind,
        expression: compiled(source),
        fits,
    }
}

#[expect(
    clippy::expect_used,
    reason = "the patterns are fixed, and a test compiles all of them"
)]
fn compiled(source: &str) -> Regex {
    Regex::new(source).expect("a fixed pattern compiles")
}

/// Whether `c` is a decimal digit of any script. Numbers such as `¹`, `②` and `½` do not continue a number.
fn is_digit(c: char) -> bool {
    if c.is_ascii() || !c.is_numeric() {
        return c.is_ascii_digit();
    }
    DIGIT.is_match(c.encode_utf8(&mut [0; 4])).unwrap_or(false)
}

fn no_digit_beside(before: &str, after: &str) -> bool {
    !before.ends_with(is_digit) && !after.starts_with(is_digit)
}

/// Whether the match is not part of a longer number, possibly with a fraction. A full stop after a number does not count.
fn no_number_around(before: &str, after: &str) -> bool {
    let fraction = after
        .strip_prefix('.')
        .is_some_and(|after| after.starts_with(is_digit));
    no_digit_beside(before, after) && !before.ends_with('.') && !fraction
}

impl Pattern {
    /// All matches in `text`, in order; `None` if the expression gave up.
    pub(super) fn find_all(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(place) = self.expression.find_from_pos(text, at).ok()? {
            let place = place.range();
            if (self.fits)(text.get(..place.start)?, text.get(place.end..)?) {
                at = place.end;
                found.push(place);
            } else {
                at = place.start + text.get(place.start..)?.chars().next()?.len_utf8();
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_patterns_are_there_in_the_order_of_the_kinds() {
        let mut kinds: Vec<_> = PATTERNS.iter().map(|pattern| pattern.kind).collect();
        kinds.dedup();
        assert_eq!(kinds, ["снилс", "паспорт", "телефон", "email", "фио"]);
        assert!(is_digit('٣'));
    }

    #[test]
    fn addresses() {
        let email = PATTERNS.iter().find(|pattern| pattern.kind == "email").unwrap();
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
            // A word boundary is before the dot, and not before `a`.
            ("яa.b@c.de", &[".b@c.de"]),
            ("a@b.c", &[]),
            ("a@b.cd1", &[]),
            ("a@b.ruя", &[]),
        ];
        for (text, expected) in table {
            let found = email.find_all(text).unwrap();
            let found: Vec<_> = found.into_iter().map(|at| &text[at]).collect();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
