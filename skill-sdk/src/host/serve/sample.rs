//! A value that a schema allows, for a call to paste.

use serde_json::{Map, Number, Value};

/// How deep references are followed.
const MAX_DEPTH: usize = 12;

/// The simplest value that `schema` seems to allow: required members only. It may still break rules that are beyond
/// types, lengths and bounds.
pub(super) fn sample(schema: &Value) -> Value {
    sample_of(schema, schema, MAX_DEPTH)
}

fn sample_of(schema: &Value, root: &Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return Value::Null;
    };
    if let Some(value) = given(schema) {
        return value.clone();
    }
    if let Some(reference) = schema["$ref"]
        .as_str()
        .and_then(|reference| reference.strip_prefix('#'))
    {
        return root
            .pointer(reference)
            .map(|target| sample_of(target, root, depth))
            .unwrap_or_default();
    }
    let choice = ["anyOf", "oneOf", "allOf"]
        .into_iter()
        .find_map(|key| schema.get(key)?.get(0));
    if let Some(branch) = choice {
        return match (sample_of(branch, root, depth), object(schema, root, depth)) {
            // A tagged enum: what all variants have stands beside them.
            (Value::Object(mut members), Value::Object(common)) => {
                members.extend(common);
                members.into()
            }
            (chosen, _) => chosen,
        };
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().and_then(Value::as_str),
        kind => kind.as_str(),
    };
    match kind {
        Some("string") => text(schema).into(),
        Some("integer" | "number") => number(schema).into(),
        Some("boolean") => false.into(),
        Some("array") => {
            let count = schema["minItems"].as_u64().unwrap_or(0).min(8);
            (0..count)
                .map(|_| sample_of(&schema["items"], root, depth))
                .collect()
        }
        Some("object") => object(schema, root, depth),
        _ => Value::Null,
    }
}

/// A value that the schema itself names.
fn given(schema: &Value) -> Option<&Value> {
    let whole = ["default", "const"].into_iter().find_map(|key| schema.get(key));
    whole.or_else(|| {
        ["examples", "enum"]
            .into_iter()
            .find_map(|key| schema.get(key)?.get(0))
    })
}

fn object(schema: &Value, root: &Value, depth: usize) -> Value {
    let required = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    let members = required.map(|name| {
        (
            name.to_owned(),
            sample_of(&schema["properties"][name], root, depth),
        )
    });
    members.collect::<Map<_, _>>().into()
}

fn text(schema: &Value) -> String {
    let text = match schema["format"].as_str() {
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("date") => "2026-01-31",
        Some("time") => "12:00:00Z",
        Some("duration") => "PT1H",
        Some("email" | "idn-email") => "ada@example.com",
        Some("hostname" | "idn-hostname") => "example.com",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("uri" | "iri" | "uri-reference" | "iri-reference") => "https://example.com",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        _ => "text",
    };
    let length = |key: &str| {
        schema[key]
            .as_u64()
            .and_then(|length| usize::try_from(length).ok())
    };
    let (least, most) = (
        length("minLength").unwrap_or(0).min(256),
        length("maxLength").unwrap_or(usize::MAX),
    );
    text.chars()
        .cycle()
        .take(text.len().max(least).min(most))
        .collect()
}

/// The number next to zero that is within the bounds.
fn number(schema: &Value) -> Number {
    let bound = |key: &str| schema[key].as_f64();
    let least = bound("minimum").or(bound("exclusiveMinimum").map(|least| least.floor() + 1.0));
    let most = bound("maximum").or(bound("exclusiveMaximum").map(|most| most.ceil() - 1.0));
    let chosen = 0.0_f64.max(least.unwrap_or(0.0)).min(most.unwrap_or(f64::MAX));
    // Written as an integer where it is one, since types want it so.
    let text = if chosen.fract() == 0.0 {
        format!("{chosen:.0}")
    } else {
        chosen.to_string()
    };
    serde_json::from_str(&text).unwrap_or_else(|_| Number::from(0))
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
            json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 9}}, "required": ["a"]}),
            json!({"type": "object", "required": ["n", "x"], "properties": {
                "n": {"type": "integer", "minimum": 3}, "x": {"type": ["number", "null"], "exclusiveMaximum": -1},
            }}),
            json!({"type": "object", "required": ["l"], "properties": {
                "l": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/E"}},
            }, "$defs": {"E": {"type": "string", "enum": ["a", "b"]}}}),
            json!({"type": "object", "oneOf": variants}),
            json!({"type": "object", "required": ["w", "u", "e"], "properties": {
                "w": {"type": "string", "format": "date-time"}, "u": {"type": "string", "format": "uuid"},
                "e": {"anyOf": [{"type": "string", "format": "email"}, {"type": "null"}]},
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
