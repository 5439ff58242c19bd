//! The package settings of a call.

use serde_json::{Map, Value};

/// The `values` of the `settings` that the platform sends, `{package, version, schemaRevision, values}`.
///
/// If `settings` or its `values` is missing or not an object, the settings are empty.
pub fn settings_values(settings: Option<Value>) -> Map<String, Value> {
    match settings {
        Some(Value::Object(mut settings)) => match settings.swap_remove("values") {
            Some(Value::Object(values)) => values,
            _ => Map::new(),
        },
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_object_of_values_counts() {
        let values = settings_values(Some(json!({"package": "p", "values": {"a": {"b": [1, null]}}})));
        assert_eq!(Value::Object(values), json!({"a": {"b": [1, null]}}));
        for other in [
            json!(null),
            json!("x"),
            json!({"limit": 5}),
            json!({"values": [1]}),
            json!({"values": null}),
            json!({"values": "x"}),
            json!([{"values": {"a": 1}}]),
        ] {
            assert!(settings_values(Some(other.clone())).is_empty(), "{other}");
        }
        assert!(settings_values(None).is_empty());
    }
}
