//! Ids of requests, and messages that carry one.

use std::fmt;

use serde::ser::{self, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use serde_json::value::RawValue;

/// The id of a request: the JSON of a string, or of a number as its client wrote it. `1` and `1.0` are two ids.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Id(String);

impl Id {
    /// An id that is a string.
    pub(crate) fn text(text: &str) -> Self {
        Self(Value::from(text).to_string())
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        match json.get().as_bytes() {
            [b'-' | b'0'..=b'9', ..] => Ok(Self(json.get().to_owned())),
            // One string has several forms.
            _ => serde_json::from_str::<String>(json.get())
                .map(|text| Self::text(&text))
                .map_err(de::Error::custom),
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json: &RawValue = serde_json::from_str(&self.0).map_err(ser::Error::custom)?;
        json.serialize(serializer)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A message: perhaps a version of JSON-RPC, an id, and one more field.
pub(crate) struct Tagged<'a, T>(
    pub(crate) Option<&'static str>,
    pub(crate) Option<&'a Id>,
    pub(crate) &'static str,
    pub(crate) T,
);

impl<T: Serialize> Serialize for Tagged<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        if let Some(version) = self.0 {
            fields.serialize_entry("jsonrpc", version)?;
        }
        fields.serialize_entry("id", &self.1)?;
        fields.serialize_entry(self.2, &self.3)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_keeps_its_digits() {
        let id = |json: &str| serde_json::from_str::<Id>(json);
        for json in ["1", "-0", "1.0", "1e3", "1180591620717411303424", "\"a\\n\""] {
            let id = id(json).unwrap();
            assert_eq!(
                (id.to_string(), serde_json::to_string(&id).unwrap()),
                (json.to_owned(), json.to_owned())
            );
        }
        assert_eq!(id(r#""\u0061""#).unwrap(), Id::text("a"));
        for json in ["null", "true", "[1]", "{}", r#""\ud800""#] {
            assert!(id(json).is_err(), "{json}");
        }
    }
}
