//! The schema of a form: the part of JSON Schema that clients can show.

use serde_json::{Map, Value, json};

use crate::contract::schema::{Side, portable};

/// The formats of strings that clients know.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The schema of a form from the schema of a type, or why the type has no form.
pub(super) fn of(schema: &Value) -> Result<Value, String> {
    let is_struct = schema.get("properties").is_some();
    if !is_struct || schema.get("oneOf").is_some() || schema.get("anyOf").is_some() {
        return Err("a form needs a struct with named fields".into());
    }
    // Without references and without null: a field that the user leaves empty is null.
    let schema = portable(schema, Side::Inputs);
    let mut fields = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let field = field(property).map_err(|reason| format!("the field `{name}` is {reason}"))?;
        fields.insert(name.clone(), field);
    }
    let mut form = Map::new();
    form.insert("type".into(), "object".into());
    form.insert("properties".into(), fields.into());
    if let Some(required) = schema.get("required") {
        form.insert("required".into(), required.clone());
    }
    Ok(form.into())
}

/// One field.
fn field(property: &Value) -> Result<Value, String> {
    let kind = property["type"].as_str().unwrap_or_default();
    let own: &[&str] = match kind {
        "string" => &["enum", "enumNames", "oneOf", "minLength", "maxLength"],
        "array" => &["minItems", "maxItems", "items"],
        "integer" | "number" | "boolean" => &["minimum", "maximum"],
        _ => {
            return Err(
                "neither a string, a number, a boolean, an enum without data nor a list of such an enum"
                    .into(),
            );
        }
    };
    let mut field = property.as_object().cloned().unwrap_or_default();
    if kind == "array" {
        field.insert("items".into(), items(&property["items"])?);
    }
    field.retain(|keyword, value| match keyword.as_str() {
        "type" | "title" | "description" | "default" => true,
        "format" => kind == "string" && value.as_str().is_some_and(|format| FORMATS.contains(&format)),
        keyword => own.contains(&keyword),
    });
    Ok(field.into())
}

/// The items of a list: clients can show choices only.
fn items(items: &Value) -> Result<Value, String> {
    if let Some(choices) = items.get("enum") {
        return Ok(json!({"type": "string", "enum": choices}));
    }
    let choices = items.get("anyOf").or_else(|| items.get("oneOf"));
    let choices = choices.ok_or("a list of something else than an enum without data")?;
    Ok(json!({"anyOf": choices}))
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::contract::schema;

    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "its schema is tested")]
    struct Everything {
        /// Your name.
        #[schemars(length(min = 1, max = 20))]
        name: String,
        age: u8,
        share: Option<f64>,
        #[serde(default = "yes")]
        sure: bool,
        colour: Colour,
        second: Option<Colour>,
        all: Vec<Colour>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[allow(dead_code, reason = "its schema is tested")]
    enum Colour {
        Red,
        Blue,
    }

    fn yes() -> bool {
        true
    }

    #[test]
    fn a_form_has_what_clients_can_show() {
        let form = of(&schema::inputs::<Everything>().unwrap()).unwrap();
        let colours = json!(["red", "blue"]);
        assert_eq!(
            form,
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Your name.", "minLength": 1, "maxLength": 20},
                    "age": {"type": "integer", "minimum": 0, "maximum": 255},
                    "share": {"type": "number"},
                    "sure": {"type": "boolean", "default": true},
                    "colour": {"type": "string", "enum": colours},
                    "second": {"type": "string", "enum": colours},
                    "all": {"type": "array", "items": {"type": "string", "enum": colours}},
                },
                "required": ["name", "age", "colour", "all"],
            })
        );
    }

    #[test]
    fn unsupported_fields_are_named() {
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code, reason = "its schema is tested")]
        struct Nested {
            inner: Everything,
        }
        #[derive(Deserialize, JsonSchema)]
        #[allow(dead_code, reason = "its schema is tested")]
        struct Texts {
            texts: Vec<String>,
        }
        let reason = |schema: Value| of(&schema).unwrap_err();
        assert!(
            reason(schema::inputs::<Nested>().unwrap()).starts_with("the field `inner` is neither a string")
        );
        assert!(reason(schema::inputs::<Texts>().unwrap()).starts_with("the field `texts` is a list of"));
        assert!(reason(json!({"type": "object", "oneOf": []})).starts_with("a form needs"));
        let recursive = json!({
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {"properties": {"a": {"$ref": "#/$defs/a"}}}},
        });
        assert!(reason(recursive).starts_with("the field `a` is neither a string"));
    }
}
