//! All values of a schema in document order, each with its place and its part in the schema.

use serde_json::Value;

use crate::keywords::{Shape, shape_of};
use crate::text::child;

/// What a value is for the schema that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A schema.
    Schema,
    /// A container whose members are schemas: the value of `properties`, `allOf`, ….
    Schemas,
    /// The value of `dependencies`: members are schemas unless they are lists.
    Dependencies,
    /// Anything else.
    Data,
}

#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) value: &'a Value,
    pub(crate) role: Role,
    pub(crate) pointer: String,
    /// The name of the member that it is.
    pub(crate) key: Option<&'a str>,
    /// The schema resource that it belongs to: the nearest schema around it (or itself) with an `$id`, or the root. Local
    /// references start there.
    pub(crate) resource: &'a Value,
}

/// The values of a schema that stands at `pointer`. It must not be nested deeply, since this recurses.
pub(crate) fn places<'a>(schema: &'a Value, pointer: &str) -> Vec<Place<'a>> {
    let mut places = Vec::new();
    let root = Place {
        value: schema,
        role: Role::Schema,
        pointer: pointer.to_owned(),
        key: None,
        resource: schema,
    };
    add(root, &mut places);
    places
}

fn add<'a>(mut place: Place<'a>, places: &mut Vec<Place<'a>>) {
    let value = place.value;
    if place.role == Role::Schema && value.get("$id").is_some_and(Value::is_string) {
        place.resource = value;
    }
    let (role, pointer, resource) = (place.role, place.pointer.clone(), place.resource);
    places.push(place);
    let inner = |value, key: Option<&'a str>, pointer| Place {
        value,
        role: child_role(role, key, value),
        pointer,
        key,
        resource,
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
            Shape::SchemaMap | Shape::PatternMap if value.is_object() => Role::Schemas,
            Shape::Dependencies if value.is_object() => Role::Dependencies,
            _ => Role::Data,
        },
        (Role::Schemas, _) => Role::Schema,
        (Role::Dependencies, _) if !value.is_array() => Role::Schema,
        _ => Role::Data,
    }
}
