//! Writing a JSON text anew in the form that Rust types take.
//!
//! JSON Schema takes `1.0` for an integer, and JSON readers take the last of two members of one name. Types that derive
//! `Deserialize` refuse both. When parsing failed, this gives the text in which both are written plainly, so that the
//! skill accepts what its contract accepts.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The longest integer that is written out, in digits.
const MAX_DIGITS: usize = 40;

/// The text anew; `None` when it would be the same or is too deep.
pub(super) fn relaxed(json: &str) -> Option<String> {
    let raw: &RawValue = serde_json::from_str(json).ok()?;
    let mut text = Vec::with_capacity(json.len());
    let mut changed = false;
    write(raw.get(), &mut text, &mut changed)?;
    changed.then(|| String::from_utf8(text).ok())?
}

/// Nesting is bounded: the schema check before parsed the text with a bound of its own.
fn write(json: &str, text: &mut Vec<u8>, changed: &mut bool) -> Option<()> {
    match json.as_bytes().first()? {
        b'{' => {
            let members: Members<'_> = serde_json::from_str(json).ok()?;
            *changed |= members.repeated;
            text.push(b'{');
            for (index, (name, value)) in members.values.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                serde_json::to_writer(&mut *text, name).ok()?;
                text.push(b':');
                write(value.get(), text, changed)?;
            }
            text.push(b'}');
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
            text.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                write(item.get(), text, changed)?;
            }
            text.push(b']');
        }
        b'-' | b'0'..=b'9' => match integer(json) {
            Some(integer) => {
                *changed = true;
                text.extend_from_slice(integer.as_bytes());
            }
            None => text.extend_from_slice(json.as_bytes()),
        },
        _ => text.extend_from_slice(json.as_bytes()),
    }
    Some(())
}

/// The members of an object; of several of one name the last.
struct Members<'a> {
    values: BTreeMap<String, &'a RawValue>,
    repeated: bool,
}

impl<'de> serde::Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Members {
                    values: BTreeMap::new(),
                    repeated: false,
                };
                while let Some((name, value)) = map.next_entry()? {
                    members.repeated |= members.values.insert(name, value).is_some();
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Visitor)
    }
}

/// The digits of a number that is written as a fraction or with an exponent and is an integer; exact.
fn integer(number: &str) -> Option<String> {
    let (sign, number) = match number.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", number),
    };
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    // `-0` is a double for the JSON library.
    let is_negative_zero = sign == "-" && number == "0";
    if !is_negative_zero && exponent == 0 && !mantissa.contains('.') && !number.contains(['e', 'E']) {
        return None;
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{}", fraction.trim_end_matches('0'));
    let fraction_digits = i32::try_from(fraction.trim_end_matches('0').len()).ok()?;
    let shift = exponent.checked_sub(fraction_digits)?;
    let digits = if shift < 0 {
        // `120e-1` is an integer, `12e-1` is not.
        let cut = digits.len().checked_sub(shift.unsigned_abs() as usize)?;
        let (kept, dropped) = digits.split_at(cut);
        if !dropped.bytes().all(|digit| digit == b'0') {
            return None;
        }
        kept.to_owned()
    } else {
        let zeros = usize::try_from(shift).ok()?;
        if zeros > MAX_DIGITS {
            return None;
        }
        digits + &"0".repeat(zeros)
    };
    let digits = digits.trim_start_matches('0');
    match digits {
        "" => Some("0".to_owned()),
        _ if digits.len() > MAX_DIGITS => None,
        _ => Some(format!("{sign}{digits}")),
    }
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
        assert_eq!(relaxed(r#"{"a": [1, 1.5, null, true, "1.0"]}"#), None);
        assert_eq!(relaxed("{"), None);
    }
}
