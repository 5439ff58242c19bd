//! Attributes that a schema marks as personal.

use serde_json::{Map, Value};

/// The keyword of a schema for an attribute that may contain personal data.
const KEYWORD: &str = "x-personal-data";

/// The attributes with `"x-personal-data": "allowed"` at the top level of the schema, in the order of `properties`.
pub(super) fn personal_fields(schema: &Value) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter(|(_, schema)| schema.get(KEYWORD).and_then(Value::as_str) == Some("allowed"))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// Removes the attributes with `"x-personal-data": "allowed"` at the top level of the schema.
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
