//! Where a JSON text cannot be read, such as at a number out of range.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::violations::path_of_error;

/// The path at which reading a text fails; `/` where it does not.
pub(super) fn path(text: &str) -> String {
    let mut reader = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, Read>(&mut reader) {
        Err(error) => path_of_error(error.path()),
        Ok(Read) => "/".to_owned(),
    }
}

/// A value that is read and dropped. Not [`serde_json::Value`]: its private names would lead into strings without a bound.
struct Read;

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadVisitor)
    }
}

struct ReadVisitor;

impl<'de> Visitor<'de> for ReadVisitor {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Read, E> {
        Ok(Read)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Read, E> {
        Ok(Read)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Read, E> {
        Ok(Read)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Read, E> {
        Ok(Read)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Read, E> {
        Ok(Read)
    }

    fn visit_str<E>(self, _: &str) -> Result<Read, E> {
        Ok(Read)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Read, A::Error> {
        while let Some(Read) = items.next_element()? {}
        Ok(Read)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Read, A::Error> {
        while let Some((_, Read)) = members.next_entry::<String, Read>()? {}
        Ok(Read)
    }
}
