//! Where types end up: at the root, in `$defs`, or in place.

use serde_json::{Value, json};

use super::types::*;
use super::{OutputShape, inputs, outputs, rules};

#[test]
fn shared_types() {
    let schema = inputs::<Order>().unwrap();
    rules::check(&schema, "Order");
    assert_eq!(
        schema["properties"],
        json!({
            "ship_to": {"description": "Where the goods go.", "anyOf": [{"$ref": "#/$defs/Address"}]},
            "bill_to": {
                "description": "Who pays.", "anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}], "default": null
            },
            "others": {"type": "array", "items": {"$ref": "#/$defs/Address"}}
        })
    );
    let schema = inputs::<Visit>().unwrap();
    rules::check(&schema, "Visit");
    assert!(
        schema.get("$defs").is_none(),
        "types that are used once are written out: {schema}"
    );
    let home = "Where the guest lives.\n\nA postal address.";
    assert_eq!(schema["properties"]["home"]["description"], home);
    assert_eq!(schema["properties"]["note"]["type"], json!(["object", "null"]));

    let names = |schema: &Value| {
        schema["$defs"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&inputs::<SameName>().unwrap()), ["Remark", "Remark2"]);
    assert_eq!(names(&inputs::<Pages>().unwrap()), ["Page", "Page2"]);
    assert_eq!(names(&inputs::<Tree>().unwrap()), ["Tree", "Colour"]);
    assert_eq!(names(&inputs::<Ping>().unwrap()), ["Ping", "Pong"]);
}

#[test]
fn a_root_that_holds_itself_is_an_entry_of_defs() {
    let schema = inputs::<List>().unwrap();
    rules::check(&schema, "List");
    assert_eq!(schema["properties"], schema["$defs"]["List"]["properties"]);
    assert_eq!(
        schema["properties"]["next"],
        json!({"anyOf": [{"$ref": "#/$defs/List"}, {"type": "null"}]})
    );
    let schema = inputs::<Expr>().unwrap();
    rules::check(&schema, "Expr");
    assert_eq!(
        schema["oneOf"][1]["properties"]["of"],
        json!({"$ref": "#/$defs/Expr"})
    );
}

#[test]
fn types_stay_in_defs_when_the_schema_would_get_too_deep() {
    let schema = inputs::<Deep<Deep<Deep<Deep<Deep<Deep<Deep<Deep<u8>>>>>>>>>().unwrap();
    rules::check(&schema, "Deep");
    assert!(schema.get("$defs").is_some());
    assert!(crate::walk::height(&schema) <= 13, "{schema}");
}

#[test]
fn roots() {
    macro_rules! roots {
        ($($kind:ty: $inputs:literal, $outputs:expr;)*) => { $({
            let name = stringify!($kind);
            let read = inputs::<$kind>();
            assert_eq!(read.is_ok(), $inputs, "{name}");
            if let Ok(schema) = read {
                rules::check(&schema, name);
            }
            let written = outputs::<$kind>().unwrap();
            rules::check(&written.schema, name);
            assert_eq!(written.shape, $outputs, "{name}");
        })* };
    }
    roots! {
        Nothing: true, OutputShape::Object;
        (): false, OutputShape::Empty;
        Unit: false, OutputShape::Empty;
        Box<()>: false, OutputShape::Empty;
        Address: true, OutputShape::Object;
        Box<Address>: true, OutputShape::Object;
        Through: true, OutputShape::Object;
        Option<Address>: true, OutputShape::Wrapped;
        Option<()>: false, OutputShape::Empty;
        Event: true, OutputShape::Object;
        Strict: true, OutputShape::Object;
        Adjacent: true, OutputShape::Object;
        Shape: true, OutputShape::Wrapped;
        Either: true, OutputShape::Wrapped;
        EitherAny: true, OutputShape::Wrapped;
        Expr: true, OutputShape::Object;
        Value: true, OutputShape::Wrapped;
        Anything: true, OutputShape::Wrapped;
        serde_json::Map<String, Value>: true, OutputShape::Object;
        std::collections::BTreeMap<u8, Address>: true, OutputShape::Object;
        String: false, OutputShape::Wrapped;
        u64: false, OutputShape::Wrapped;
        bool: false, OutputShape::Wrapped;
        Colour: false, OutputShape::Wrapped;
        Vec<Address>: false, OutputShape::Wrapped;
        (Address, Address): false, OutputShape::Wrapped;
        Named: false, OutputShape::Wrapped;
    }
    let dialect = "https://json-schema.org/draft/2020-12/schema";
    let any = json!({
        "$schema": dialect, "description": "Any JSON object.", "type": "object", "properties": {},
        "additionalProperties": true
    });
    assert_eq!(inputs::<Value>().unwrap(), any);
    assert_eq!(
        outputs::<Vec<bool>>().unwrap().schema.to_string(),
        json!({
            "$schema": dialect, "type": "object",
            "properties": {"result": {"type": "array", "items": {"type": "boolean"}}},
            "required": ["result"], "additionalProperties": false
        })
        .to_string()
    );
    assert_eq!(
        outputs::<()>().unwrap().schema.to_string(),
        json!({"$schema": dialect, "type": "object", "properties": {}, "additionalProperties": false})
            .to_string()
    );
    let event = inputs::<Event>().unwrap();
    assert_eq!(
        event.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["$schema", "description", "type", "oneOf"]
    );
    assert_eq!(
        event["oneOf"][2]["required"],
        json!(["type", "street"]),
        "the fields of a newtype variant"
    );
}

#[test]
fn a_newtype_at_the_root_adds_its_words() {
    let schema = inputs::<Home>().unwrap();
    rules::check(&schema, "Home");
    assert_eq!(schema["description"], "Home, sweet home.\n\nA postal address.");
    assert_eq!(schema["properties"], inputs::<Address>().unwrap()["properties"]);
    assert!(schema.get("allOf").is_none(), "{schema}");
}
