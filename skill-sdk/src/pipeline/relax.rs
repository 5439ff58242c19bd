//! Rewrites a JSON text in the form that Rust types accept.
//!
//! JSON Schema accepts `1.0` as an integer, and JSON readers accept the last of two fields of one name. Types that derive
//! `Deserialize` reject both. When parsing failed, the text is rewritten without either, so that the skill accepts what its
//! contract accepts.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The longest integer that is written out, in digits.
const MAX_DIGITS: usize = 40;

/// How many bytes may be read for a text: each level of nesting reads what is in it again.
pub(super) fn budget(json: &str) -> usize {
    json.len().saturating_mul(16).saturating_add(64 * 1024)
}

/// The rewritten text; `None` when it is not JSON, or too long for its depth.
pub(super) fn relaxed(json: &str) -> Option<String> {
    let mut text = String::with_capacity(json.len());
    write(json, &mut budget(json), &mut text)?;
    Some(text)
}

/// Nesting is bounded: validation has parsed the text before with a depth limit.
fn write(json: &str, left: &mut usize, text: &mut String) -> Option<()> {
    *left = left.checked_sub(json.len())?;
    match json.trim_ascii_start().as_bytes().first()? {
        b'{' => {
            // Of several fields of one name the last counts.
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(json).ok()?;
            text.push('{');
            for (index, (name, value)) in members.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                text.push_str(&serde_json::to_string(name).ok()?);
                text.push(':');
                write(value.get(), left, text)?;
            }
            text.push('}');
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                write(item.get(), left, text)?;
            }
            text.push(']');
        }
        b'-' | b'0'..=b'9' => text.push_str(&integer(json).unwrap_or_else(|| json.to_owned())),
        _ => text.push_str(json),
    }
    Some(())
}

/// The digits of a number that is written as a fraction or with an exponent and is an integer; exact.
fn integer(number: &str) -> Option<String> {
    // `-0` is a double for the JSON library.
    if number != "-0" && !number.contains(['.', 'e', 'E']) {
        return None;
    }
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() {
        return Some("0".to_owned());
    }
    // The number of digits before the point, after the exponent is applied.
    let before = isize::try_from(whole.len())
        .ok()?
        .checked_add(exponent.parse().ok()?)?;
    let before = usize::try_from(before).ok()?;
    let is_integer = (digits.len()..=MAX_DIGITS).contains(&before);
    is_integer.then(|| format!("{sign}{}", format!("{digits:0<before$}").trim_start_matches('0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_plainly() {
        let table = [
            ("1.0", Some("1")),
            ("1e3", Some("1000")),
            ("1.50e1", Some("15")),
            ("-2.00", Some("-2")),
            ("120e-1", Some("12")),
            ("0.0", Some("0")),
            ("-0.0", Some("0")),
            ("-0", Some("0")),
            ("1180591620717411303424.0", Some("1180591620717411303424")),
            ("1180591620717411303425.0", Some("1180591620717411303425")),
            ("1.1805916207174113e21", Some("1180591620717411300000")),
            ("0.5e1", Some("5")),
            ("0.00", Some("0")),
            ("1e20", Some("100000000000000000000")),
            ("1E2", Some("100")),
            ("1e0", Some("1")),
            ("1", None),
            ("1.5", None),
            ("12e-1", None),
            ("1e400", None),
            ("1e-400", None),
            ("1e99999999999", None),
        ];
        for (number, expected) in table {
            assert_eq!(integer(number).as_deref(), expected, "{number}");
        }
    }

    #[test]
    fn the_last_member_of_a_name_counts() {
        let text = relaxed(r#" {"a": 1, "b": [1.0, {"c": "x", "c": 1e1}], "a": "\u00e9"} "#).unwrap();
        assert_eq!(text, r#"{"a":"\u00e9","b":[1,{"c":10}]}"#);
        let text = relaxed(r#"{"a": [1, 1.5, null, true, "1.0"]}"#).unwrap();
        assert_eq!(text, r#"{"a":[1,1.5,null,true,"1.0"]}"#);
        assert_eq!(relaxed("{"), None);
    }

    #[test]
    fn reading_is_bounded_by_the_length() {
        let nested = |content: &str| format!("{}{content}{}", "[".repeat(126), "]".repeat(126));
        assert_eq!(relaxed(&nested("1.0")), Some(nested("1")));
        let long = format!("\"{}\"", "x".repeat(100_000));
        assert_eq!(relaxed(&nested(&long)), None);
        assert_eq!(
            relaxed(&format!("[[[{long}, 1.0]]]")),
            Some(format!("[[[{long},1]]]"))
        );
    }
}
