//! The fields of a JSON object from a client, whose values are parsed one by one.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::context::settings_values;
use crate::contract::json;

/// The maximum number of fields, so that an object of many tiny ones does not take more memory than its text.
const MAX_MEMBERS: usize = 1000;

/// The fields of a JSON object. Unknown ones are ignored; of several with one name the last counts.
#[derive(Default)]
pub(crate) struct Members<'a>(Vec<(Name<'a>, &'a RawValue)>);

/// A name that is copied only when it has escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Members<'de>, A::Error> {
                let mut all = Vec::with_capacity(8);
                while let Some(member) = members.next_entry()? {
                    if all.len() == MAX_MEMBERS {
                        let message = format_args!("there are more than {MAX_MEMBERS} members");
                        return Err(de::Error::custom(message));
                    }
                    all.push(member);
                }
                Ok(Members(all))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

impl<'a> Members<'a> {
    /// The JSON text of a field.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a str> {
        let mut members = self.0.iter().rev();
        members
            .find(|(Name(found), _)| found == name)
            .map(|(_, value)| value.get())
    }
    /// A field of type `T`; `None` when it is missing or has another type.
    pub(crate) fn get<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.raw(name)?).ok()
    }

    /// A string, or the JSON text of any other value but null.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let json = self.raw(name).filter(|json| *json != "null")?;
        Some(serde_json::from_str(json).unwrap_or_else(|_| json.to_owned()))
    }

    /// The values of the package settings; unusable settings are empty settings.
    pub(crate) fn settings(&self, name: &str) -> Map<String, Value> {
        settings_values(self.raw(name).and_then(|json| json::parse(json.as_bytes()).ok()))
    }
}
