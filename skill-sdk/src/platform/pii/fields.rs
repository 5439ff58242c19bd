//! Attributes that a schema marks as personal.

use serde_json::{Map, Value};

/// The keyword with which a schema says that an attribute may hold personal data.
const KEYWORD: &str = "x-personal-data";

/// The attributes whose schema says `"x-personal-data": "allowed"`, in the order of `properties`.
///
/// Only the top level of the schema is looked at.
pub(super) fn personal_fields(schema: &Value) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter(|(_, schema)| schema.get(KEYWORD).and_then(Value::as_str) == Some("allowed"))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// The attributes without those whose schema says `"x-personal-data": "allowed"`. Only the top level of the schema is looked
/// at.
///
/// ```
/// use serde_json::json;
/// use skill_sdk::pii::strip_personal_fields;
///
/// let schema = json!({"properties": {"name": {"x-personal-data": "allowed"}, "age": {}}});
/// let attributes = json!({"name": "Ada", "age": 36});
/// let stripped = strip_personal_fields(attributes.as_object().unwrap(), &schema);
/// assert_eq!(json!(stripped), json!({"age": 36}));
/// ```
pub fn strip_personal_fields(attributes: &Map<String, Value>, schema: &Value) -> Map<String, Value> {
    let personal = personal_fields(schema);
    attributes
        .iter()
        .filter(|(name, _)| !personal.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}
