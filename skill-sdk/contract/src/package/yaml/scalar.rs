//! What a plain (unquoted) scalar means to the two kinds of YAML reader.
//!
//! YAML 1.1 is taken as `PyYAML` implements it, YAML 1.2 as its core schema. Two questions are
//! answered here, one strict and one cautious:
//!
//! - [`resolve`] (reading): the value both readers agree on, or why there is none;
//! - [`is_plain_safe`] (writing): whether a string may stay without quotes. It also stays clear of
//!   what only *some* reader of either version takes for a type (`y`, `-0x1f`, `nUlL`).

use serde_json::{Number, Value};

/// Why a plain scalar has no value that every reader agrees on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unclear {
    /// The two kinds of reader see different values.
    Differs,
    /// A number that JSON cannot hold: infinite, not a number, or out of range.
    NotJson,
}

/// The value of the plain scalar `text` on which YAML 1.1 and YAML 1.2 readers agree.
pub(super) fn resolve(text: &str) -> Result<Value, Unclear> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Value::Null),
        "true" | "True" | "TRUE" => return Ok(Value::Bool(true)),
        "false" | "False" | "FALSE" => return Ok(Value::Bool(false)),
        "yes" | "Yes" | "YES" | "no" | "No" | "NO" | "on" | "On" | "ON" | "off" | "Off" | "OFF" | "<<"
        | "=" => return Err(Unclear::Differs),
        _ => {}
    }
    // Everything else that is not a string starts like a number.
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return Ok(Value::String(text.to_owned()));
    }
    if is_common_int(text) {
        return integer(text);
    }
    if let Some(digits) = text.strip_prefix("0x")
        && all(digits, |b| b.is_ascii_hexdigit())
    {
        let number = u64::from_str_radix(digits, 16).map_err(|_| Unclear::NotJson)?;
        return Ok(Value::from(number));
    }
    if is_common_float(text) {
        return float(text);
    }
    if is_infinite_or_nan(text) {
        return Err(Unclear::NotJson);
    }
    if is_typed_in_1_1(text) || is_typed_in_1_2(text) {
        return Err(Unclear::Differs);
    }
    Ok(Value::String(text.to_owned()))
}

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
    const WORDS: [&str; 16] = [
        "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "<<", "=", ".inf", "+.inf",
        "-.inf", ".nan",
    ];
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
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

fn integer(text: &str) -> Result<Value, Unclear> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if let Ok(number) = digits.parse::<u64>() {
        return Ok(Value::from(number));
    }
    if let Ok(number) = digits.parse::<i64>() {
        return Ok(Value::from(number));
    }
    // Above 64 bits JSON numbers are floats here, as they are when JSON text is read.
    float(digits)
}

fn float(text: &str) -> Result<Value, Unclear> {
    text.parse::<f64>()
        .ok()
        .and_then(Number::from_f64)
        .map(Value::Number)
        .ok_or(Unclear::NotJson)
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

/// At least one byte, all of them accepted.
fn all(text: &str, accept: impl Fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(accept)
}

fn digits(text: &str) -> bool {
    all(text, |b| b.is_ascii_digit())
}

/// Digits without a leading zero, which is octal to one reader and decimal to the other.
fn plain_digits(text: &str) -> bool {
    digits(text) && (text == "0" || !text.starts_with('0'))
}

fn is_common_int(text: &str) -> bool {
    plain_digits(unsigned(text))
}

/// A float to both: with a point, and with a sign in the exponent if there is one.
fn is_common_float(text: &str) -> bool {
    let (mantissa, exponent) = split_exponent(text);
    if !exponent.is_none_or(|e| e.starts_with(['+', '-']) && digits(unsigned(e))) {
        return false;
    }
    if let Some(fraction) = mantissa.strip_prefix('.') {
        return digits(fraction);
    }
    unsigned(mantissa)
        .split_once('.')
        .is_some_and(|(whole, fraction)| plain_digits(whole) && (fraction.is_empty() || digits(fraction)))
}

fn split_exponent(text: &str) -> (&str, Option<&str>) {
    match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    }
}

fn is_infinite_or_nan(text: &str) -> bool {
    matches!(unsigned(text), ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// An integer, float or date to a YAML 1.1 reader (the patterns of `PyYAML`).
fn is_typed_in_1_1(text: &str) -> bool {
    let body = unsigned(text);
    let grouped = |t: &str| all(t, |b| b.is_ascii_digit() || b == b'_');
    let starts_with_digit = body.starts_with(|c: char| c.is_ascii_digit());
    if let Some(rest) = body.strip_prefix("0b") {
        return all(rest, |b| matches!(b, b'0' | b'1' | b'_'));
    }
    if let Some(rest) = body.strip_prefix("0x") {
        return all(rest, |b| b.is_ascii_hexdigit() || b == b'_');
    }
    if starts_with_digit && grouped(body) {
        let octal = body.bytes().all(|b| matches!(b, b'0'..=b'7' | b'_'));
        return !body.starts_with('0') || octal;
    }
    if starts_with_digit && is_sexagesimal(body) {
        return true;
    }
    is_grouped_float(text) || is_timestamp(text)
}

/// `190:20:30` and `190:20:30.15`, numbers in base 60.
fn is_sexagesimal(body: &str) -> bool {
    let (whole, fraction) = match body.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (body, None),
    };
    let mut parts = whole.split(':');
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let sixty =
        |part: &&str| digits(part) && (part.len() == 1 || (part.len() == 2 && part.as_bytes()[0] < b'6'));
    !rest.is_empty()
        && first.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        && rest.iter().all(sixty)
        && fraction.is_none_or(|f| f.bytes().all(|b| b.is_ascii_digit() || b == b'_'))
}

/// A float of YAML 1.1: underscores allowed, a point needed, the exponent signed.
fn is_grouped_float(text: &str) -> bool {
    let (mantissa, exponent) = split_exponent(text);
    let exponent_fits = exponent.is_none_or(|e| e.starts_with(['+', '-']) && digits(unsigned(e)));
    let grouped = |t: &str| t.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let starts = |t: &str| t.starts_with(|c: char| c.is_ascii_digit());
    let mantissa_fits = match mantissa.strip_prefix('.') {
        Some(fraction) => starts(fraction) && grouped(fraction),
        None => unsigned(mantissa)
            .split_once('.')
            .is_some_and(|(whole, fraction)| starts(whole) && grouped(whole) && grouped(fraction)),
    };
    exponent_fits && mantissa_fits
}

/// `2026-01-01` and the date-times of YAML 1.1.
fn is_timestamp(text: &str) -> bool {
    let mut fields = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (fields.next(), fields.next(), fields.next()) else {
        return false;
    };
    let short = |t: &str| digits(t) && t.len() <= 2;
    if !(digits(year) && year.len() == 4 && short(month)) {
        return false;
    }
    if digits(rest) {
        return month.len() == 2 && rest.len() == 2;
    }
    let day_length = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (day, after) = rest.split_at(day_length);
    let time = match after.strip_prefix(['T', 't']) {
        Some(time) => time,
        None if after.starts_with([' ', '\t']) => after.trim_start_matches([' ', '\t']),
        None => return false,
    };
    let mut parts = time.splitn(3, ':');
    let (Some(hour), Some(minute), Some(seconds)) = (parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    short(day) && short(hour) && digits(minute) && minute.len() == 2 && is_seconds_and_zone(seconds)
}

fn is_seconds_and_zone(text: &str) -> bool {
    let Some((seconds, mut rest)) = text.split_at_checked(2) else {
        return false;
    };
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    let zone = rest.trim_start_matches([' ', '\t']);
    let zone_fits = match zone.strip_prefix(['+', '-']) {
        None => zone == "Z" || zone.is_empty() && rest.is_empty(),
        Some(offset) => {
            let (hours, minutes) = offset.split_once(':').unwrap_or((offset, "00"));
            digits(hours) && hours.len() <= 2 && digits(minutes) && minutes.len() == 2
        }
    };
    digits(seconds) && zone_fits
}

/// An integer or float to the core schema of YAML 1.2.
fn is_typed_in_1_2(text: &str) -> bool {
    if let Some(octal) = text.strip_prefix("0o") {
        return all(octal, |b| matches!(b, b'0'..=b'7'));
    }
    let (mantissa, exponent) = split_exponent(unsigned(text));
    let exponent_fits = exponent.is_none_or(|e| digits(unsigned(e)));
    let mantissa_fits = match mantissa.split_once('.') {
        None => digits(mantissa),
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
    };
    exponent_fits && mantissa_fits
}
