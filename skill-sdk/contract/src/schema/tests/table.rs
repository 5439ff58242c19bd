//! What schemas look like: a Rust type on the left, the schema on the right.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Value, json};

use super::types::*;
use super::{JsonSchema, OutputShape, inputs, outputs, rules, type_name};

/// The schema of a field of type `T` in inputs and in outputs, and whether it is required.
fn field<T: JsonSchema>() -> [(Value, bool); 2] {
    let name = type_name::<T>();
    let read = inputs::<Field<T>>().unwrap();
    let written = outputs::<Field<T>>().unwrap();
    assert_eq!(written.shape, OutputShape::Object, "{name}");
    [read, written.schema].map(|schema| {
        rules::check(&schema, &name);
        let required = schema.get("required").is_some_and(|names| *names == json!(["v"]));
        let mut field = schema["properties"]["v"].clone();
        if let Some(defs) = schema.get("$defs") {
            field["$defs"] = defs.clone();
        }
        (field, required)
    })
}

/// `Type => required, schema of a field of that type`, the same for inputs and outputs.
macro_rules! fields {
    ($($kind:ty => $required:literal, $schema:tt;)*) => { $({
        let expected = (json!($schema), $required);
        for (side, found) in ["inputs", "outputs"].into_iter().zip(field::<$kind>()) {
            assert_eq!(found, expected, "{} in {side}:\n{}", stringify!($kind), found.0);
        }
    })* };
}

#[test]
fn numbers() {
    fields! {
        i8 => true, {"type": "integer", "minimum": -128, "maximum": 127};
        i16 => true, {"type": "integer", "minimum": -32768, "maximum": 32767};
        i32 => true, {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX};
        i64 => true, {"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX};
        isize => true, {"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX};
        i128 => true, {"type": "integer"};
        u8 => true, {"type": "integer", "minimum": 0, "maximum": 255};
        u16 => true, {"type": "integer", "minimum": 0, "maximum": 65535};
        u32 => true, {"type": "integer", "minimum": 0, "maximum": u32::MAX};
        u64 => true, {"type": "integer", "minimum": 0, "maximum": u64::MAX};
        usize => true, {"type": "integer", "minimum": 0, "maximum": u64::MAX};
        u128 => true, {"type": "integer", "minimum": 0};
        std::num::NonZeroU16 => true, {"type": "integer", "minimum": 1, "maximum": 65535};
        std::num::NonZeroI8 => true, {"type": "integer", "minimum": -128, "maximum": 127, "not": {"enum": [0]}};
        Option<u32> => false, {"type": ["integer", "null"], "minimum": 0, "maximum": u32::MAX};
        f32 => true, {"type": "number"};
        f64 => true, {"type": "number"};
        Meters => true, {"type": "number"};
        serde_json::Number => true, {"type": "number"};
        bool => true, {"type": "boolean"};
    }
}

#[test]
fn text() {
    fields! {
        String => true, {"type": "string"};
        char => true, {"type": "string", "minLength": 1, "maxLength": 1};
        &'static str => true, {"type": "string"};
        std::borrow::Cow<'static, str> => true, {"type": "string"};
        std::path::PathBuf => true, {"type": "string"};
        std::net::Ipv4Addr => true, {"type": "string", "format": "ipv4"};
        std::net::IpAddr => true, {"type": "string", "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]};
        Option<std::net::IpAddr> => false,
            {"type": ["string", "null"], "anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]};
        std::net::SocketAddr => true, {"type": "string"};
        Named => true, {"description": "A name.", "type": "string"};
        Option<Named> => false, {"description": "A name.", "type": ["string", "null"]};
    }
}

#[test]
fn lists_and_tuples() {
    fields! {
        Vec<u8> => true, {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}};
        Option<Vec<bool>> => false, {"type": ["array", "null"], "items": {"type": "boolean"}};
        Vec<Option<bool>> => true, {"type": "array", "items": {"type": ["boolean", "null"]}};
        [bool; 3] => true, {"type": "array", "items": {"type": "boolean"}, "minItems": 3, "maxItems": 3};
        std::collections::BTreeSet<String> => true,
            {"type": "array", "items": {"type": "string"}, "uniqueItems": true};
        (bool,) => true, {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 1};
        (bool, bool) => true, {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2};
        (bool, Option<String>) => true, {
            "description": "Exactly 2 items, in this order:\n1. boolean\n2. string or null",
            "type": "array",
            "items": {"anyOf": [{"type": "boolean"}, {"type": ["string", "null"]}]},
            "minItems": 2,
            "maxItems": 2
        };
        (Value, bool) => true, {
            "description": "Exactly 2 items, in this order:\n1. any JSON value\n2. boolean",
            "type": "array",
            "items": {"description": "Any JSON value."},
            "minItems": 2,
            "maxItems": 2
        };
        Documented => true, {
            "description": "Exactly 2 items, in this order:\n1. number: East.\n2. number: North, upwards.",
            "type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2
        };
        Result<bool, String> => true, {"oneOf": [
            {"type": "object", "properties": {"Ok": {"type": "boolean"}}, "required": ["Ok"]},
            {"type": "object", "properties": {"Err": {"type": "string"}}, "required": ["Err"]}
        ]};
    }
}

#[test]
fn wrappers_leave_no_trace() {
    let plain = field::<Remark>();
    assert_eq!(plain[0].0["properties"], json!({"text": {"type": "string"}}));
    assert_eq!(field::<Box<Remark>>(), plain);
    assert_eq!(field::<Rc<Remark>>(), plain);
    assert_eq!(field::<Arc<Remark>>(), plain);
    assert_eq!(field::<Box<Rc<Arc<Remark>>>>(), plain);
    assert_eq!(field::<std::sync::Mutex<Remark>>(), plain);
    assert_eq!(field::<Through>(), field::<Address>());
    assert_eq!(field::<Option<Option<u8>>>(), field::<Option<u8>>());
    assert_eq!(field::<Option<Box<u8>>>(), field::<Option<u8>>());
}

#[test]
fn maps() {
    fields! {
        std::collections::BTreeMap<String, bool> => true,
            {"type": "object", "additionalProperties": {"type": "boolean"}};
        std::collections::HashMap<String, Value> => true, {"type": "object", "additionalProperties": true};
        serde_json::Map<String, Value> => true, {"type": "object", "additionalProperties": true};
        std::collections::BTreeMap<i32, bool> => true, {
            "type": "object",
            "propertyNames": {"pattern": "^(0|-?[1-9][0-9]*)$"},
            "additionalProperties": {"type": "boolean"}
        };
        std::collections::BTreeMap<u64, bool> => true, {
            "type": "object",
            "propertyNames": {"pattern": "^(0|[1-9][0-9]*)$"},
            "additionalProperties": {"type": "boolean"}
        };
        std::collections::BTreeMap<Key, bool> => true, {
            "type": "object",
            "properties": {"One": {"type": "boolean"}, "Two": {"type": "boolean"}},
            "additionalProperties": false
        };
        std::collections::BTreeMap<Code, bool> => true, {
            "type": "object",
            "propertyNames": {"pattern": "^[a-z]{2}$"},
            "additionalProperties": {"type": "boolean"}
        };
    }
}

#[test]
fn enums() {
    fields! {
        Colour => true, {"type": "string", "enum": ["Red", "Green", "dark-blue"]};
        Option<Colour> => false, {"type": ["string", "null"], "enum": ["Red", "Green", "dark-blue", null]};
        Urgency => true, {
            "description": "How urgent it is.\n\n- `Low`: Whenever there is time.\n- `High` (deprecated): Now.",
            "type": "string",
            "enum": ["Middle", "Low", "High"]
        };
        EitherAny => true, {"anyOf": [{"type": "boolean"}, {"description": "Any JSON value."}]};
        Option<EitherAny> => false,
            {"anyOf": [{"type": "boolean"}, {"description": "Any JSON value."}, {"type": "null"}]};
        Mixed => true, {"oneOf": [
            {"description": "- `B`: Second.", "type": "string", "enum": ["A", "B"]},
            {
                "type": "object", "properties": {"C": {"type": "boolean"}}, "required": ["C"],
                "additionalProperties": false
            }
        ]};
    }
    let [(read, _), (written, _)] = field::<Adjacent>();
    assert_eq!(
        read["oneOf"][0],
        json!({"type": "object", "properties": {"t": {"type": "string", "enum": ["Unit"]}}, "required": ["t"]})
    );
    assert_eq!(read["oneOf"][4]["required"], json!(["t", "c"]));
    assert_eq!(written["oneOf"][4]["required"], json!(["t"]));
}

#[test]
fn any_value_is_said_in_words() {
    fields! {
        Value => true, {"description": "Any JSON value."};
        Anything => true, {"description": "Any JSON value."};
    }
    let any = json!({"description": "Any JSON value."});
    // An optional "anything" cannot be told from "anything" in outputs.
    assert_eq!(field::<Option<Value>>(), [(any.clone(), false), (any, true)]);
    let schema = inputs::<Anys>().unwrap();
    rules::check(&schema, "Anys");
    assert_eq!(
        schema["properties"],
        json!({
            "plain": {"description": "Any JSON value."},
            "documented": {"description": "Whatever comes.\n\nAny JSON value."},
            "maybe": {"description": "Any JSON value."},
            "list": {"type": "array", "items": {"description": "Any JSON value."}},
            "map": {"type": "object", "additionalProperties": true},
            "object": {"type": "object", "additionalProperties": true},
            "shared": {"$ref": "#/$defs/Anything"},
            "again": {"description": "The same again.", "anyOf": [{"$ref": "#/$defs/Anything"}]}
        })
    );
}

#[test]
fn serde_attributes_on_the_side_they_belong_to() {
    let names = |schema: &Value| {
        schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    macro_rules! sides {
        ($($kind:ty: $read:expr, $must_read:tt; $written:expr, $must_written:tt;)*) => { $({
            let (read, written) = (inputs::<$kind>().unwrap(), outputs::<$kind>().unwrap().schema);
            for (schema, fields, required) in
                [(read, &$read[..], json!($must_read)), (written, &$written[..], json!($must_written))]
            {
                rules::check(&schema, stringify!($kind));
                assert_eq!(names(&schema), fields, "{}", stringify!($kind));
                let found = schema.get("required").cloned().unwrap_or(json!([]));
                assert_eq!(found, required, "{}", stringify!($kind));
            }
        })* };
    }
    sides! {
        Renamed: ["firstName", "in", "new"], ["firstName", "in"]; ["firstName", "out", "new"], ["firstName", "out"];
        Skips: ["kept", "only_in", "sometimes"], ["kept", "only_in"];
            ["kept", "only_out", "sometimes"], ["kept", "only_out"];
        AllDefault: ["a", "b"], []; ["a", "b"], ["a", "b"];
        Flat: ["id", "street", "city"], ["id", "street"]; ["id", "street", "city"], ["id", "street"];
        FlatMaybe: ["id", "text"], ["id"]; ["id", "text"], ["id"];
        FlatEnum: ["id"], ["id"]; ["id"], ["id"];
        Closed: ["a", "b"], ["a"]; ["a", "b"], ["a"];
    }
    let with = inputs::<With>().unwrap();
    rules::check(&with, "With");
    assert_eq!(
        with["properties"],
        json!({
            "number": {"type": "string", "pattern": "^[0-9]+$"},
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "code": {"type": "string", "minLength": 2, "maxLength": 5},
            "list": {"type": "array", "items": {"type": "string", "minLength": 1}, "maxItems": 2},
            "mail": {"type": "string", "format": "email"},
            "weight": {"type": "number", "x-unit": "kg"}
        })
    );
}

#[test]
fn defaults_are_shown_in_one_order() {
    let schema = inputs::<Defaults>().unwrap();
    rules::check(&schema, "Defaults");
    let fields = schema["properties"].as_object().unwrap();
    let defaults: Vec<String> = fields
        .iter()
        .filter_map(|(name, field)| Some(format!("{name} {}", field.get("default")?)))
        .collect();
    assert_eq!(
        defaults,
        [
            "count 3",
            "ratio 0.0",
            "tenth 0.1",
            "tags []",
            r#"words ["a","b","c","d"]"#,
            r#"scores {"x":[2,9,10],"y":[2,9,10],"z":[2,9,10]}"#,
            r#"remark {"text":"hm"}"#,
            r#"second {"text":"hm"}"#,
        ]
    );
    for _ in 0..20 {
        assert_eq!(inputs::<Defaults>().unwrap().to_string(), schema.to_string());
    }
}

#[test]
fn keywords_have_one_order() {
    assert_eq!(
        inputs::<Closed>().unwrap().to_string(),
        concat!(
            r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":"#,
            r#"{"a":{"type":"integer","minimum":0,"maximum":255},"#,
            r#""b":{"type":["integer","null"],"minimum":0,"maximum":255,"default":null}},"#,
            r#""required":["a"],"additionalProperties":false}"#
        )
    );
}

#[test]
fn names_of_types() {
    assert_eq!(type_name::<Vec<Remark>>(), "Vec<Remark>");
    assert_eq!(
        type_name::<Option<(String, [u8; 2])>>(),
        "Option<(String, [u8; 2])>"
    );
    assert_eq!(type_name::<&'static str>(), "&str");
    assert_eq!(type_name::<()>(), "()");
    assert_eq!(type_name::<dyn Send>(), "dyn Send");
}
