//! What a plain (unquoted) scalar means to the two kinds of YAML reader.
//!
//! YAML 1.1 is taken as `PyYAML` implements it, YAML 1.2 as its core schema. Two questions are
//! answered here, both cautiously:
//!
//! - [`resolve`] (reading): the value that both readers surely agree on, if any;
//! - [`is_plain_safe`] (writing): whether a string may stay without quotes. It also stays clear of
//!   what only *some* reader of either version takes for a type (`y`, `nUlL`).

use serde_json::{Number, Value};

/// The value of the plain scalar `text`, where it is plainly the same to all readers: a word of JSON, a number as JSON
/// writes it, or text that does not look like a number, a date or a time.
pub(super) fn resolve(text: &str) -> Option<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Value::Null),
        "true" | "True" | "TRUE" => return Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Some(Value::Bool(false)),
        "yes" | "Yes" | "YES" | "no" | "No" | "NO" | "on" | "On" | "ON" | "off" | "Off" | "OFF" | "<<"
        | "=" => return None,
        _ => {}
    }
    if !may_be_number(text) {
        let is_text = !NOT_FINITE.iter().any(|word| word.eq_ignore_ascii_case(text));
        return is_text.then(|| text.into());
    }
    // YAML 1.1 takes a number for text when its exponent lacks a sign, or the mantissa before it lacks a point.
    let is_common = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => mantissa.contains('.') && exponent.starts_with(['+', '-']),
        None => true,
    };
    let number: Option<Number> = text.parse().ok().filter(|_| is_common);
    number.map(Value::Number)
}

/// Whether some reader may take the text for a number, a date or a time. Two points make it a version or an address.
fn may_be_number(text: &str) -> bool {
    let body = text.trim_start_matches(['+', '-']);
    let is_part = |b: u8| b.is_ascii_digit() || b"_+-.: eEtTzZ".contains(&b);
    let is_digit = |c: char| c.is_ascii_hexdigit() || c == '_';
    let based = ["0b", "0o", "0x"].iter().find_map(|base| body.strip_prefix(base));
    based.is_some_and(|digits| digits.chars().all(is_digit))
        || (body.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && body.bytes().any(|b| b.is_ascii_digit())
            && body.bytes().all(is_part)
            && body.matches('.').count() < 2)
}

const NOT_FINITE: [&str; 4] = [".inf", "+.inf", "-.inf", ".nan"];

/// Whether the one-line string `text` may be written without quotes for every reader.
///
/// The caller has made sure that no character of it needs an escape.
pub(super) fn is_plain_safe(text: &str) -> bool {
    let mut chars = text.chars();
    let Some(first) = chars.next() else {
        return false;
    };
    let second = chars.next();
    let opens = match first {
        // These start a plain scalar only when something other than a space follows.
        '-' | '?' | ':' => second.is_some_and(|c| c != ' '),
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`'
        | ' ' => false,
        _ => true,
    };
    opens
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.contains(['\n', '\t'])
        && !text.starts_with("---")
        && !text.starts_with("...")
        && !is_word_of_some_reader(text)
        && !is_number_like(text)
}

/// Words that some reader takes for null, a boolean, a float, a merge or a default value.
fn is_word_of_some_reader(text: &str) -> bool {
    const WORDS: [&str; 12] = [
        "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "=",
    ];
    let mut words = WORDS.iter().chain(&NOT_FINITE);
    words.any(|word| word.eq_ignore_ascii_case(text))
}

/// Starts like a number and holds only what numbers, dates and times of any reader are made of.
fn is_number_like(text: &str) -> bool {
    let is_part = |b: u8| {
        b.is_ascii_hexdigit()
            || matches!(
                b,
                b'x' | b'X' | b'o' | b'O' | b'_' | b'+' | b'-' | b'.' | b':' | b' '
            )
            || matches!(b, b't' | b'T' | b'z' | b'Z')
    };
    text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
        && text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().all(is_part)
}
