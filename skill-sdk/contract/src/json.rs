//! A JSON reader for untrusted input.
//!
//! `serde_json::Value` reads an object whose first name is one of two private names of `serde_json` as something else: the
//! JSON in a string, or a number. A client that sends such an object could have one value validated and another used, or
//! could exceed the bound of nesting. This reader rejects both names.
//!
//! ```
//! use skill_sdk_contract::json::parse;
//!
//! assert_eq!(parse(br#"{"number": 2}"#)?["number"], 2);
//! assert!(parse(br#"{"$serde_json::private::RawValue": "2"}"#).is_err());
//! # Ok::<(), serde_json::Error>(())
//! ```

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The prefix of the private names of `serde_json`.
const PRIVATE: &str = "$serde_json::private::";

/// The name under which `serde_json` passes a number when its feature `arbitrary_precision` is on.
const NUMBER: &str = "$serde_json::private::Number";

/// Reads a JSON text. The last of several fields of one name wins; nesting is bounded at 127 levels.
///
/// # Errors
///
/// The text is not JSON, is nested deeper than 127 levels, or has a field with a private name of `serde_json`.
pub fn parse(json: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice::<Plain>(json).map(|Plain(value)| value)
}

/// Whether [`parse`] rejects objects with a field of this name.
#[doc(hidden)]
pub fn is_reserved(name: &str) -> bool {
    name.starts_with(PRIVATE)
}

/// A value in which names are names.
#[doc(hidden)]
#[derive(Debug)]
pub struct Plain(Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor).map(Self)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Plain(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if name == NUMBER && map.is_empty() && numbers_come_as_maps() {
                let digits: String = members.next_value()?;
                return digits
                    .parse::<Number>()
                    .map(Value::Number)
                    .map_err(A::Error::custom);
            }
            if name.starts_with(PRIVATE) {
                return Err(A::Error::custom(format_args!("the name `{name}` is reserved")));
            }
            let Plain(value) = members.next_value()?;
            map.insert(name, value);
        }
        Ok(map.into())
    }
}

/// Whether a crate of the program turned on `arbitrary_precision`, with which a number keeps its source text.
fn numbers_come_as_maps() -> bool {
    "1e1"
        .parse()
        .is_ok_and(|number: Number| number.to_string() == "1e1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_read_as_they_stand() {
        let text =
            r#"{"b": [null, true, -1, 18446744073709551615, 1.5, "é\n"], "a": {}, "b2": 1, "a": {"x": 2}}"#;
        let value = parse(text.as_bytes()).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(value["a"], json!({"x": 2}));
        assert!(parse(b"{} x").is_err());
        assert!(parse(b"").is_err());
    }

    #[test]
    fn private_names_are_rejected_in_every_spelling_and_place() {
        for text in [
            r#"{"$serde_json::private::RawValue": "{\"a\": 1}"}"#,
            r#"{"a": [{"\u0024serde_json::private::RawValue": "1"}]}"#,
            r#"{"a": 1, "$serde_json::private::RawValue": "1"}"#,
            r#"{"$serde_json::private::Number": "7"}"#,
            r#"{"$serde_json::private::Anything": 1}"#,
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains("is reserved"), "{text}: {error}");
        }
        assert!(parse(br#"{"a": "$serde_json::private::RawValue"}"#).is_ok());
    }

    #[test]
    fn nesting_is_bounded_also_by_way_of_strings() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(deep(127).as_bytes()).is_ok());
        assert!(parse(deep(128).as_bytes()).is_err());
        let mut text = "1".to_owned();
        for _ in 0..3 {
            let inner = json!({"$serde_json::private::RawValue": text}).to_string();
            text = format!("{}{inner}{}", "[".repeat(100), "]".repeat(100));
        }
        assert!(parse(text.as_bytes()).is_err());
    }
}
