//! The members of a JSON object from a client, whose values are read one by one.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::context::settings_values;
use crate::contract::json;

/// The members of a JSON object. Unknown ones are ignored; of several with one name the last counts.
#[derive(Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Members<'a>(#[serde(borrow)] HashMap<String, &'a RawValue>);

impl<'a> Members<'a> {
    /// The JSON text of a member.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|value| value.get())
    }

    /// A member of a type; `None` when it is missing or of another.
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
