//! A value that a schema allows, for a call to paste.

use serde_json::{Map, Value};

/// How deep references are followed.
const MAX_DEPTH: usize = 12;

/// The simplest value that `schema` seems to allow: required members only. It may still break rules that are beyond types.
pub(super) fn sample(schema: &Value) -> Value {
    sample_of(schema, schema, MAX_DEPTH)
}

fn sample_of(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    let of = |schema| sample_of(schema, root, depth);
    let first = |keyword: &str| schema.get(keyword)?.get(0);
    let given = schema.get("default").or_else(|| schema.get("const"));
    if let Some(value) = given.or_else(|| first("examples")).or_else(|| first("enum")) {
        return value.clone();
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        return target.map(of).unwrap_or_default();
    }
    let required = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let members = required.map(|name| (name.to_owned(), of(&schema["properties"][name])));
    let mut object: Map<String, Value> = members.collect();
    if let Some(variant) = first("anyOf").or_else(|| first("oneOf")) {
        return match of(variant) {
            // A tagged enum: fields of all variants are beside them.
            Value::Object(mut members) => {
                members.append(&mut object);
                members.into()
            }
            chosen => chosen,
        };
    }
    match schema["type"].as_str().or_else(|| schema["type"][0].as_str()) {
        Some("string") => "text".into(),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(0.into()),
        Some("boolean") => false.into(),
        Some("array") => match schema["minItems"].as_u64() {
            None | Some(0) => Value::Array(Vec::new()),
            Some(_) => vec![of(&schema["items"])].into(),
        },
        Some("object") => object.into(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::sample;

    #[test]
    fn samples_keep_their_schemas() {
        let variants = json!([
            {"type": "object", "properties": {"kind": {"enum": ["cat"]}, "lives": {"type": "integer"}},
                "required": ["kind", "lives"]},
            {"type": "object", "properties": {"kind": {"enum": ["dog"]}}, "required": ["kind"]},
        ]);
        for schema in [
            json!({"type": "object"}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            json!({"type": "object", "required": ["n", "x"], "properties": {
                "n": {"type": "integer", "minimum": 3}, "x": {"type": ["number", "null"]},
            }}),
            json!({"type": "object", "required": ["l"], "properties": {
                "l": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/E"}},
            }, "$defs": {"E": {"type": "string", "enum": ["a", "b"]}}}),
            json!({"type": "object", "oneOf": variants}),
            json!({"type": "object", "required": ["e"], "properties": {
                "e": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            }}),
            json!({"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#/$defs/N"}},
                "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}}}),
        ] {
            let value = sample(&schema);
            assert!(
                jsonschema::draft202012::is_valid(&schema, &value),
                "{schema}: {value}"
            );
        }
    }

    #[test]
    fn endless_schemas_end() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
        assert!(sample(&schema).is_object());
    }
}
