//! All values of a schema in document order, each with its place and its role in the schema.

use serde_json::Value;

use crate::keywords::{Shape, shape_of};
use crate::text::child;

/// What a value is for the schema around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A schema.
    Schema,
    /// A container of schemas: the value of `properties`, `allOf`, ….
    Schemas,
    /// The value of `dependencies`: its values are schemas unless they are arrays.
    Dependencies,
    /// Anything else.
    Data,
}

#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) value: &'a Value,
    pub(crate) role: Role,
    pub(crate) pointer: String,
    /// The name of the field that it is the value of.
    pub(crate) key: Option<&'a str>,
}

/// The values of the schema at `pointer`. It must not be nested deeply, since this recurses.
pub(crate) fn places<'a>(schema: &'a Value, pointer: &str) -> Vec<Place<'a>> {
    let mut places = Vec::new();
    let root = Place {
        value: schema,
        role: Role::Schema,
        pointer: pointer.to_owned(),
        key: None,
    };
    add(root, &mut places);
    places
}

fn add<'a>(place: Place<'a>, places: &mut Vec<Place<'a>>) {
    let (value, role, pointer) = (place.value, place.role, place.pointer.clone());
    places.push(place);
    let inner = |value, key: Option<&'a str>, pointer| Place {
        value,
        role: child_role(role, key, value),
        pointer,
        key,
    };
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                add(inner(item, None, format!("{pointer}/{index}")), places);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                add(inner(member, Some(key), child(&pointer, key)), places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn child_role(parent: Role, key: Option<&str>, value: &Value) -> Role {
    match (parent, key) {
        (Role::Schema, Some(keyword)) => match shape_of(keyword) {
            Shape::Schema => Role::Schema,
            Shape::Schemas if value.is_array() => Role::Schemas,
            Shape::SchemaMap if value.is_object() => Role::Schemas,
            Shape::Dependencies if value.is_object() => Role::Dependencies,
            _ => Role::Data,
        },
        (Role::Schemas, _) => Role::Schema,
        (Role::Dependencies, _) if !value.is_array() => Role::Schema,
        _ => Role::Data,
    }
}
