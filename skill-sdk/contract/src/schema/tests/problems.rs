//! Types without a schema that could stand in a contract.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::SchemaProblemKind::{NotAnObject, UnresolvedReference, Unsatisfiable};
use super::types::*;
use super::{SchemaProblem, SchemaProblemKind, inputs, outputs};

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

/// One row of the table: what was found, its kind, the type, the place, and words of the message.
type Row = (
    Result<serde_json::Value, SchemaProblem>,
    SchemaProblemKind,
    &'static str,
    &'static str,
    &'static str,
);

fn of_types() -> Vec<Row> {
    vec![
        (
            inputs::<String>(),
            NotAnObject,
            "String",
            "",
            "make it a field of a struct",
        ),
        (
            inputs::<Vec<Remark>>(),
            NotAnObject,
            "Vec<Remark>",
            "",
            "it is a list",
        ),
        (
            inputs::<Option<Colour>>(),
            NotAnObject,
            "Option<Colour>",
            "",
            "a string or null",
        ),
        (inputs::<()>(), NotAnObject, "()", "", "leave the parameter out"),
        (inputs::<Again>(), Unsatisfiable, "Again", "", "never ends"),
        (inputs::<Alias>(), Unsatisfiable, "Alias", "", "never ends"),
        (
            inputs::<FlatClosed>(),
            Unsatisfiable,
            "FlatClosed",
            "/anyOf/0",
            "the field `name`",
        ),
        (
            inputs::<ClosedFlat>(),
            Unsatisfiable,
            "ClosedFlat",
            "",
            "does not support the two together",
        ),
        (
            inputs::<Field<ClosedFlat>>(),
            Unsatisfiable,
            "Field<ClosedFlat>",
            "/properties/v",
            "`flatten`",
        ),
    ]
}

fn of_schemas_by_hand() -> Vec<Row> {
    vec![
        (
            inputs::<Flattened>(),
            Unsatisfiable,
            "Flattened",
            "",
            "the field `b`",
        ),
        (
            inputs::<OptionalField>(),
            Unsatisfiable,
            "OptionalField",
            "/allOf/0",
            "the field `a`",
        ),
        (
            inputs::<Dangling>(),
            UnresolvedReference,
            "Dangling",
            "",
            "`#/definitions/B`",
        ),
        (
            inputs::<Remote>(),
            UnresolvedReference,
            "Remote",
            "",
            "https://example.com/schema.json",
        ),
        (
            inputs::<SelfRoot>(),
            UnresolvedReference,
            "SelfRoot",
            "",
            "`generator.subschema_for`",
        ),
    ]
}

#[test]
fn problems_name_the_type_the_place_and_what_to_do() {
    let rows = of_types().into_iter().chain(of_schemas_by_hand());
    for (found, kind, name, pointer, part) in rows {
        let problem: SchemaProblem = found.expect_err(name);
        assert_eq!(
            (problem.kind, problem.type_name.as_str(), problem.pointer.as_str()),
            (kind, name, pointer),
            "{problem}"
        );
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
    let problem = inputs::<Field<ClosedFlat>>().unwrap_err();
    assert_eq!(problem.kind.code(), "unsatisfiable");
}
