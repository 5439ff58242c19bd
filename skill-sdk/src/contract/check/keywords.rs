//! The keywords of JSON Schema 2020-12, and what the value of each must be.

/// What the value of a keyword must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Any value.
    Any,
    /// A schema.
    Schema,
    /// A non-empty list of schemas.
    Schemas,
    /// An object whose members are schemas.
    SchemaMap,
    /// A [`SchemaMap`](Self::SchemaMap) whose keys are regular expressions.
    PatternMap,
    /// An object whose members are schemas or lists of different strings (`dependencies` of older drafts).
    Dependencies,
    /// A number.
    Number,
    /// A number above 0.
    Positive,
    /// An integer from 0; `1.0` is one.
    Count,
    /// `true` or `false`.
    Flag,
    /// A string.
    Text,
    /// A string that is a regular expression.
    Pattern,
    /// Any list.
    List,
    /// A list of different strings.
    Strings,
    /// An object whose members are lists of different strings.
    StringsMap,
    /// The name of a type, or a non-empty list of different ones.
    Type,
    /// The name of an anchor.
    Anchor,
    /// A URI without a fragment.
    Id,
    /// An object whose members are flags.
    FlagMap,
}

/// Every keyword that has a rule: those of 2020-12, and those of older drafts that its meta-schema still describes.
pub(super) const KEYWORDS: &[(&str, Shape)] = &[
    ("$id", Shape::Id),
    ("$schema", Shape::Text),
    ("$ref", Shape::Text),
    ("$anchor", Shape::Anchor),
    ("$dynamicRef", Shape::Text),
    ("$dynamicAnchor", Shape::Anchor),
    ("$recursiveRef", Shape::Text),
    ("$recursiveAnchor", Shape::Anchor),
    ("$vocabulary", Shape::FlagMap),
    ("$comment", Shape::Text),
    ("$defs", Shape::SchemaMap),
    ("definitions", Shape::SchemaMap),
    ("dependencies", Shape::Dependencies),
    ("prefixItems", Shape::Schemas),
    ("items", Shape::Schema),
    ("contains", Shape::Schema),
    ("additionalProperties", Shape::Schema),
    ("properties", Shape::SchemaMap),
    ("patternProperties", Shape::PatternMap),
    ("dependentSchemas", Shape::SchemaMap),
    ("propertyNames", Shape::Schema),
    ("if", Shape::Schema),
    ("then", Shape::Schema),
    ("else", Shape::Schema),
    ("allOf", Shape::Schemas),
    ("anyOf", Shape::Schemas),
    ("oneOf", Shape::Schemas),
    ("not", Shape::Schema),
    ("unevaluatedItems", Shape::Schema),
    ("unevaluatedProperties", Shape::Schema),
    ("type", Shape::Type),
    ("const", Shape::Any),
    ("enum", Shape::List),
    ("multipleOf", Shape::Positive),
    ("maximum", Shape::Number),
    ("exclusiveMaximum", Shape::Number),
    ("minimum", Shape::Number),
    ("exclusiveMinimum", Shape::Number),
    ("maxLength", Shape::Count),
    ("minLength", Shape::Count),
    ("pattern", Shape::Pattern),
    ("maxItems", Shape::Count),
    ("minItems", Shape::Count),
    ("uniqueItems", Shape::Flag),
    ("maxContains", Shape::Count),
    ("minContains", Shape::Count),
    ("maxProperties", Shape::Count),
    ("minProperties", Shape::Count),
    ("required", Shape::Strings),
    ("dependentRequired", Shape::StringsMap),
    ("format", Shape::Text),
    ("contentEncoding", Shape::Text),
    ("contentMediaType", Shape::Text),
    ("contentSchema", Shape::Schema),
    ("title", Shape::Text),
    ("description", Shape::Text),
    ("default", Shape::Any),
    ("deprecated", Shape::Flag),
    ("readOnly", Shape::Flag),
    ("writeOnly", Shape::Flag),
    ("examples", Shape::List),
];

/// The names of the types.
pub(super) const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// What the value of the keyword must be; an unknown keyword may hold anything.
pub(super) fn shape_of(keyword: &str) -> Shape {
    KEYWORDS
        .iter()
        .find(|(name, _)| *name == keyword)
        .map_or(Shape::Any, |(_, shape)| *shape)
}
