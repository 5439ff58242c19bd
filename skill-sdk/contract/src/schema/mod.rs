//! JSON Schemas of a contract, made from Rust types.
//!
//! [`inputs`] describes what serde reads, [`outputs`] what serde writes. schemars makes a schema of each type; here
//! it is brought into one portable form that people, models and validators of any draft read the same way:
//!
//! | Rust | schema |
//! |---|---|
//! | root | always `type: object`; outputs that are not an object become the field `result`, `()` is an empty object |
//! | integers | `minimum` and `maximum` of the type, no `format`; bounds of 128 bits are left out |
//! | `Option<T>` | not in `required`; `null` added to the `type`, or `anyOf` of the type and null |
//! | enum without data | `type: string` and `enum`; the docs of variants are lines of the description |
//! | enum with data | `oneOf` as serde tags it; `anyOf` when untagged; a fixed value is an `enum` of one |
//! | `serde_json::Value` | no `type`, and "Any JSON value." in the description |
//! | tuple | list of fixed length whose items fit one of the types; the order is told in the description |
//! | map | `additionalProperties`; keys with a pattern have `propertyNames`, keys of an enum are properties |
//! | type used once | written out where it is used, unless that gets too deep |
//! | type used several times, or in itself | in `$defs`; a `$ref` has no keyword beside it |
//! | doc comment | `description`, lines joined as rustdoc does; titles only where the author writes one |
//! | `#[serde(default)]` | `default`, sorted where the order of a hash map would show |
//!
//! Properties are in the order of declaration and keywords in a fixed order, so the same code gives the same bytes.
//!
//! ```
//! use schemars::JsonSchema;
//! use skill_sdk_contract::schema;
//!
//! #[derive(JsonSchema)]
//! struct Claim {
//!     /// What the customer wrote.
//!     text: String,
//! }
//!
//! let schema = schema::inputs::<Claim>()?;
//! assert_eq!(schema["properties"]["text"]["description"], "What the customer wrote.");
//! assert_eq!(schema["required"][0], "text");
//! # Ok::<(), schema::SchemaProblem>(())
//! ```
//!
//! Guide: `docs/guides/fields-and-validation.md`. Reference: `docs/reference/contract.md`.
//!
//! # Limits of the schema
//!
//! Every value that serde writes conforms to the schema, except `NaN` and infinities, which serde writes as null. serde reads
//! every value that conforms to the schema, except:
//!
//! - an integer written with a fraction or an exponent (`1.0`), which JSON Schema counts as an integer;
//! - integers that are out of the range of a 128-bit type;
//! - items of a tuple of different types in another order;
//! - content beside the tag of a variant that has none, in an enum with `tag` and `content`;
//! - text with a grammar of its own and no standard format (socket addresses, a type read `with` custom code);
//! - keys of a map that are out of the range of an integer, or that are a type without a pattern of its own (a
//!   `char`, a `bool`, an enum with documented variants);
//! - conditions that only Rust code knows (`try_from`, a custom `Deserialize`).
//!
//! serde reads more than the schema allows, and validation rejects it before serde sees it: aliases of a field or variant,
//! unknown words of an enum with `#[serde(other)]`, and a list instead of a struct.
//!
//! serde drops some of the fields of a flattened `Option` silently, also with `deny_unknown_fields`.
//!
//! Some things schemars does not tell: a default that `skip_serializing_if` would skip or that cannot be serialized;
//! the place of a documented variant among undocumented ones (these come first); whether a field of outputs is
//! `Value` or `Option<Value>` (it is required); whether the docs of a struct without docs of its own are those of
//! what it flattens.
//!
//! # Types without a schema
//!
//! A [`SchemaProblem`] is reported for inputs that cannot be an object, for `deny_unknown_fields` together with `flatten`,
//! whose sides reject each other's fields, and for a reference to something that is not in the schema.

mod contradictions;
mod defaults;
mod docs;
mod enums;
mod generate;
mod inline_refs;
mod normalize;
mod numbers;
mod portable;
mod problem;
mod refs;
mod root;
mod serialized;
mod tuples;

#[cfg(test)]
mod tests;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

#[doc(hidden)]
pub use self::portable::{Side, ToolNames, ToolSkill, portable, tool_names};
pub use self::problem::SchemaProblem;

/// How outputs stand on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputShape {
    /// As serde writes them: an object.
    Object,
    /// In the field `result` of an object.
    Wrapped,
    /// As an object without fields: the type says nothing (`()`, or a struct without fields and braces).
    Empty,
}

/// The schema of the outputs of a skill.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outputs {
    /// JSON Schema 2020-12 of an object, `$schema` first.
    pub schema: Value,
    /// How a value of the type becomes an object that conforms to the schema.
    pub shape: OutputShape,
}

/// The JSON Schema 2020-12 of the objects that `T` is read from, `$schema` first.
///
/// # Errors
///
/// `T` cannot be an object (a string, a list, `()`), no value can satisfy its schema, or its schema refers to
/// something that is not in it. The problem names the type, the place, and what to do.
pub fn inputs<T: JsonSchema + ?Sized>() -> Result<Value, SchemaProblem> {
    TypeSchema::of::<T>().inputs()
}

/// The JSON Schema 2020-12 of what `T` is written as, and how that becomes an object.
///
/// # Errors
///
/// No value can satisfy the schema of `T`, or it refers to something that is not in it.
pub fn outputs<T: JsonSchema + ?Sized>() -> Result<Outputs, SchemaProblem> {
    TypeSchema::of::<T>().outputs()
}

/// What a type contributes to its schema: functions that exist for the type anyway, so that each skill costs little to
/// compile.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct TypeSchema {
    write: fn(&mut SchemaGenerator) -> Schema,
    name: fn() -> &'static str,
}

impl TypeSchema {
    /// That of `T`.
    pub const fn of<T: JsonSchema + ?Sized>() -> Self {
        Self {
            write: SchemaGenerator::subschema_for::<T>,
            name: std::any::type_name::<T>,
        }
    }

    /// See [`inputs`].
    ///
    /// # Errors
    ///
    /// Those of [`inputs`].
    pub fn inputs(self) -> Result<Value, SchemaProblem> {
        generate::inputs(self.write, (self.name)())
    }

    /// See [`outputs`].
    ///
    /// # Errors
    ///
    /// Those of [`outputs`].
    pub fn outputs(self) -> Result<Outputs, SchemaProblem> {
        generate::outputs(self.write, (self.name)())
    }
}

/// The name of a type for messages, without the paths of modules: `Vec<Item>`.
#[doc(hidden)]
pub fn type_name<T: ?Sized>() -> String {
    short_type_name(std::any::type_name::<T>())
}

fn short_type_name(name: &str) -> String {
    let is_part_of_path = |c: char| c.is_alphanumeric() || "_:#".contains(c);
    let paths = name.split_inclusive(|c| !is_part_of_path(c));
    paths
        .map(|path| path.rsplit("::").next().unwrap_or(path))
        .collect()
}
