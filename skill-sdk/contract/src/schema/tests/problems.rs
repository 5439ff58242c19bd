//! Types whose schema cannot be part of a contract.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::types::*;
use super::{SchemaProblem, inputs, outputs};

/// A type with a schema written by hand.
macro_rules! by_hand {
    ($($name:ident => $schema:tt;)*) => { $(
        struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )* };
}

by_hand! {
    Dangling => {"type": "object", "properties": {"a": {"$ref": "#/definitions/B"}}};
    Remote => {"$ref": "https://example.com/schema.json"};
    SelfRoot => {"type": "object", "properties": {"me": {"$ref": "#"}}};
    Flattened => {
        "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false,
        "oneOf": [{"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]}]
    };
    OptionalField => {
        "type": "object", "properties": {"a": {"type": "string"}},
        "allOf": [{"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false}]
    };
    Fine => {
        "type": "object", "properties": {"n": {"type": ["integer", "null"], "minimum": 5, "maximum": 3}},
        "not": {"required": ["m"]}
    };
}

/// One row of the table: what was found, the type, and words of the message.
type Row = (
    Result<serde_json::Value, SchemaProblem>,
    &'static str,
    &'static str,
);

fn of_types() -> Vec<Row> {
    vec![
        (inputs::<String>(), "String", "make it a field of a struct"),
        (inputs::<Vec<Remark>>(), "Vec<Remark>", "it is an array"),
        (inputs::<Option<Colour>>(), "Option<Colour>", "a string or null"),
        (inputs::<()>(), "()", "leave the parameter out"),
        (inputs::<FlatClosed>(), "FlatClosed", "the field `name`"),
        (
            inputs::<ClosedFlat>(),
            "ClosedFlat",
            "does not support the two together",
        ),
        (inputs::<Field<ClosedFlat>>(), "Field<ClosedFlat>", "`flatten`"),
    ]
}

fn of_schemas_by_hand() -> Vec<Row> {
    vec![
        (inputs::<Flattened>(), "Flattened", "the field `b`"),
        (inputs::<OptionalField>(), "OptionalField", "the field `a`"),
        (inputs::<Dangling>(), "Dangling", "`#/definitions/B`"),
        (inputs::<Remote>(), "Remote", "https://example.com/schema.json"),
        (inputs::<SelfRoot>(), "SelfRoot", "`generator.subschema_for`"),
    ]
}

#[test]
fn problems_name_the_type_the_place_and_what_to_do() {
    let rows = of_types().into_iter().chain(of_schemas_by_hand());
    for (found, name, part) in rows {
        let problem: SchemaProblem = found.expect_err(name);
        let text = problem.to_string();
        assert!(
            text.contains(&format!("`{name}`")) && text.contains(part),
            "{text}"
        );
        assert!(
            text.starts_with(char::is_lowercase) || text.starts_with('`'),
            "{text}"
        );
    }
}

#[test]
fn outputs_may_be_what_inputs_may_not() {
    assert!(
        outputs::<ClosedFlat>().is_ok(),
        "deny_unknown_fields is about reading"
    );
    assert!(inputs::<Fine>().is_ok());
}
