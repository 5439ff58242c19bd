//! The patterns that are always looked for.
//!
//! None of the regular expressions looks around: an automaton finds them, in time that is linear in the length of the text
//! and mostly in one fast pass. What must not stand beside a find is asked afterwards. How long a find is follows from
//! where it begins, so asking later changes nothing.

use std::ops::Range;
use std::sync::LazyLock;

use fancy_regex::Regex;

use super::email;

/// One kind of find.
pub(super) struct Pattern {
    pub(super) kind: &'static str,
    finder: Finder,
}

enum Finder {
    Email,
    Expression {
        expression: Regex,
        /// Without a match of it there is none of the expression. It is the cheaper one: it asks for no boundaries of words,
        /// which automata are slow to find outside of ASCII.
        hint: Option<&'static LazyLock<Option<Regex>>>,
        /// Whether what stands before and behind allows the find.
        fits: fn(before: &str, after: &str) -> bool,
    },
}

/// A capitalized word, also a double one: `Салтыков-Щедрин`.
const WORD: &str = "[А-ЯЁ][а-яё]+(?:-[А-ЯЁ][а-яё]+)?";

/// A capitalized word with the ending of a patronymic in the nominative.
const PATRONYMIC: &str = "[А-ЯЁ][а-яё]*(?:ич|вна|чна|шна)";

/// Two initials.
const INITIALS: &str = r"[А-ЯЁ]\.\s?[А-ЯЁ]\.";

static HAS_PATRONYMIC: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PATRONYMIC).ok());

/// What `\d` is in the expressions: a digit with a decimal value, of any script.
static DIGIT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"\d").ok());

static HAS_INITIALS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(INITIALS).ok());

/// The patterns in the order of matching; `None` when one does not compile, which would be a hole. They are fixed, so a
/// test says that all do.
pub(super) static PATTERNS: LazyLock<Option<Vec<Pattern>>> = LazyLock::new(patterns);

fn patterns() -> Option<Vec<Pattern>> {
    let name = |source: String, hint| expression("фио", &source, Some(hint), |_, _| true);
    Some(vec![
        expression("снилс", r"\d{3}-\d{3}-\d{3}[\s-]\d{2}", None, no_digit_beside)?,
        expression(
            "паспорт",
            // Series and number, with at most a few words after the one that tells what they are.
            r"(?i:паспорт|серия)\D{0,20}\d{2}\s?\d{2}\D{0,10}\d{6}",
            None,
            |_, after| !after.starts_with(is_digit),
        )?,
        expression(
            "телефон",
            r"(?:\+7|8)[\s-]{0,2}\(?\d{3}\)?[\s-]{0,2}\d{3}[\s-]?\d{2}[\s-]?\d{2}",
            None,
            no_number_around,
        )?,
        Pattern {
            kind: "email",
            finder: Finder::Email,
        },
        name(format!(r"\b{WORD}\s+{WORD}\s+{PATRONYMIC}\b"), &HAS_PATRONYMIC)?,
        name(
            format!(r"\b{WORD}\s+{PATRONYMIC}(?:\s+{WORD})?\b"),
            &HAS_PATRONYMIC,
        )?,
        name(format!(r"\b{PATRONYMIC}\s+{WORD}\b"), &HAS_PATRONYMIC)?,
        name(format!(r"\b{WORD}\s+{INITIALS}"), &HAS_INITIALS)?,
        expression(
            "фио",
            &format!(r"{INITIALS}\s?{WORD}\b"),
            Some(&HAS_INITIALS),
            |before, _| !before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.'),
        )?,
    ])
}

fn expression(
    kind: &'static str,
    source: &str,
    hint: Option<&'static LazyLock<Option<Regex>>>,
    fits: fn(&str, &str) -> bool,
) -> Option<Pattern> {
    let expression = Regex::new(source).ok()?;
    Some(Pattern {
        kind,
        finder: Finder::Expression {
            expression,
            hint,
            fits,
        },
    })
}

/// A decimal digit of any script. Other numbers, such as `¹`, `②` and `½`, do not make a find part of a longer number.
fn is_digit(c: char) -> bool {
    if c.is_ascii() || !c.is_numeric() {
        return c.is_ascii_digit();
    }
    let text = c.encode_utf8(&mut [0; 4]).to_owned();
    DIGIT
        .as_ref()
        .is_some_and(|digit| digit.is_match(&text).unwrap_or(false))
}

fn no_digit_beside(before: &str, after: &str) -> bool {
    !before.ends_with(is_digit) && !after.starts_with(is_digit)
}

/// No part of a longer number, also of one with a fraction. A full stop behind a number is none.
fn no_number_around(before: &str, after: &str) -> bool {
    let fraction = after
        .strip_prefix('.')
        .is_some_and(|after| after.starts_with(is_digit));
    no_digit_beside(before, after) && !before.ends_with('.') && !fraction
}

impl Pattern {
    /// All finds in `text`, in order; `None` when the expression gave up, and nobody knows what is in the text.
    pub(super) fn find_all(&self, text: &str) -> Option<Vec<Range<usize>>> {
        let Finder::Expression {
            expression,
            hint,
            fits,
        } = &self.finder
        else {
            return Some(email::find_all(text));
        };
        if let Some(hint) = hint
            && !hint.as_ref()?.is_match(text).ok()?
        {
            return Some(Vec::new());
        }
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(place) = expression.find_from_pos(text, at).ok()? {
            let place = place.range();
            if fits(text.get(..place.start)?, text.get(place.end..)?) {
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
        let patterns = PATTERNS.as_ref().unwrap();
        let mut kinds: Vec<_> = patterns.iter().map(|pattern| pattern.kind).collect();
        kinds.dedup();
        assert_eq!(kinds, ["снилс", "паспорт", "телефон", "email", "фио"]);
        assert!(HAS_PATRONYMIC.is_some() && HAS_INITIALS.is_some() && DIGIT.is_some());
    }
}
