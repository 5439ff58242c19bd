//! The schema of a form: the part of JSON Schema that clients can draw.

use serde_json::{Map, Value};

/// The longest chain of references that is followed.
const MAX_REFERENCES: usize = 16;

/// The formats of texts that clients know.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The schema of a form from the schema of a type, or why there is none.
pub(super) fn of(schema: &Value) -> Result<Value, String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let (Some(properties), None, None) = (properties, schema.get("oneOf"), schema.get("anyOf")) else {
        return Err("a form needs a struct with named fields".into());
    };
    let mut fields = Map::new();
    for (name, property) in properties {
        let field = field(property, schema).map_err(|reason| format!("the field `{name}` is {reason}"))?;
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
fn field(property: &Value, root: &Value) -> Result<Value, String> {
    let outer = property.as_object().ok_or("without a type")?;
    let mut field = settled(outer, root)?;
    let kind = kind(&field)?;
    // A documented reference has its words outside.
    for word in ["title", "description", "default"] {
        field.extend(outer.get(word).map(|text| (word.to_owned(), text.clone())));
    }
    if kind == "array" {
        let items = items(&field, root)?;
        field.insert("items".into(), items);
    }
    let own: &[&str] = match kind {
        "string" => &["enum", "enumNames", "oneOf", "minLength", "maxLength"],
        "array" => &["minItems", "maxItems", "items"],
        _ => &["minimum", "maximum"],
    };
    field.retain(|keyword, value| match keyword.as_str() {
        "type" | "title" | "description" => true,
        "default" => !value.is_null(),
        "format" => kind == "string" && value.as_str().is_some_and(|format| FORMATS.contains(&format)),
        keyword => own.contains(&keyword),
    });
    field.insert("type".into(), kind.into());
    Ok(field.into())
}

/// The items of a list: only choices can be drawn.
fn items(list: &Map<String, Value>, root: &Value) -> Result<Value, String> {
    let why = "a list of something else than an enum without data";
    let items = list.get("items").and_then(Value::as_object).ok_or(why)?;
    let items = settled(items, root)?;
    let mut kept = Map::new();
    if let Some(choices) = items.get("enum") {
        kept.insert("type".into(), "string".into());
        kept.insert("enum".into(), choices.clone());
    } else if let Some(choices) = items.get("anyOf").or_else(|| items.get("oneOf")) {
        kept.insert("anyOf".into(), choices.clone());
    } else {
        return Err(why.into());
    }
    Ok(kept.into())
}

/// The schema behind references, without null as an alternative: a field that is left out is null.
fn settled(node: &Map<String, Value>, root: &Value) -> Result<Map<String, Value>, String> {
    let mut node = node.clone();
    for _ in 0..MAX_REFERENCES {
        let inner = if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#').unwrap_or(reference);
            root.pointer(pointer)
        } else {
            let branches = node.get("anyOf").and_then(Value::as_array);
            let is_null = |branch: &&Value| branch.get("type").is_some_and(|kind| kind == "null");
            let others = branches.map(|all| all.iter().filter(|branch| !is_null(branch)).collect::<Vec<_>>());
            match (branches, others.as_deref()) {
                (Some(all), Some([one])) if all.len() == 2 => Some(*one),
                _ => return Ok(node),
            }
        };
        let inner = inner.and_then(Value::as_object).cloned();
        node = inner.ok_or("a reference to nothing")?;
    }
    Err("a reference to itself".into())
}

/// The type of a field.
fn kind(node: &Map<String, Value>) -> Result<&'static str, String> {
    const KINDS: [&str; 5] = ["string", "integer", "number", "boolean", "array"];
    let named = match node.get("type") {
        Some(Value::String(name)) => Some(name.as_str()),
        Some(Value::Array(names)) => {
            let mut names = names
                .iter()
                .filter_map(Value::as_str)
                .filter(|&name| name != "null");
            names.next().filter(|_| names.next().is_none())
        }
        _ => None,
    };
    let found = KINDS.iter().find(|&&kind| Some(kind) == named);
    found.copied().ok_or_else(|| {
        "neither a text, a number, a boolean, an enum without data nor a list of such an enum".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

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
    fn a_form_holds_what_clients_can_draw() {
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
    fn what_cannot_be_drawn_is_named() {
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
            reason(schema::inputs::<Nested>().unwrap()).starts_with("the field `inner` is neither a text")
        );
        assert!(reason(schema::inputs::<Texts>().unwrap()).starts_with("the field `texts` is a list of"));
        assert!(reason(json!({"type": "object", "oneOf": []})).starts_with("a form needs"));
        let endless =
            json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}});
        assert_eq!(reason(endless), "the field `a` is a reference to itself");
        let broken = json!({"properties": {"a": {"$ref": "#/$defs/b"}}});
        assert_eq!(reason(broken), "the field `a` is a reference to nothing");
    }
}
