//! The keywords of JSON Schema 2020-12: what the value of each must be, and in which order they are written.

/// What the value of a keyword must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Any value.
    Any,
    /// A schema.
    Schema,
    /// A non-empty array of schemas.
    Schemas,
    /// An object of schemas.
    SchemaMap,
    /// An object of schemas or arrays of different strings (`dependencies` of older drafts).
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
    /// Any array.
    List,
    /// An array of different strings.
    Strings,
    /// An object of arrays of different strings.
    StringsMap,
    /// The name of a type, or a non-empty array of different ones.
    Type,
    /// The name of an anchor.
    Anchor,
    /// A URI without a fragment.
    Id,
    /// An object of flags.
    FlagMap,
}

impl Shape {
    /// What the value must be, in words.
    pub(crate) fn wanted(self) -> &'static str {
        match self {
            Self::Any => "any value",
            Self::Schema => "a schema",
            Self::Schemas => "a non-empty array of schemas",
            Self::SchemaMap => "an object of schemas",
            Self::Dependencies => "an object of schemas or arrays of different strings",
            Self::Number => "a number",
            Self::Positive => "a number above 0",
            Self::Count => "an integer from 0",
            Self::Flag => "a boolean",
            Self::Text => "a string",
            Self::List => "an array",
            Self::Strings => "an array of different strings",
            Self::StringsMap => "an object of arrays of different strings",
            Self::Type => "one of the types of JSON, or a non-empty array of different ones",
            Self::Anchor => "a string of ASCII letters, digits and `_.-` that starts with a letter or `_`",
            Self::Id => "a URI without a fragment",
            Self::FlagMap => "an object of booleans",
        }
    }
}

/// Every keyword that has a rule: those of 2020-12, and those of older drafts that its meta-schema still describes. The
/// first [`WRITTEN_FIRST`] are in the order in which a contract writes them: what something is, its limits, what is
/// inside, what is said about it.
pub(crate) const KEYWORDS: &[(&str, Shape)] = &[
    ("$schema", Shape::Text),
    ("$ref", Shape::Text),
    ("title", Shape::Text),
    ("description", Shape::Text),
    ("deprecated", Shape::Flag),
    ("type", Shape::Type),
    ("enum", Shape::List),
    ("format", Shape::Text),
    ("pattern", Shape::Text),
    ("minLength", Shape::Count),
    ("maxLength", Shape::Count),
    ("minimum", Shape::Number),
    ("exclusiveMinimum", Shape::Number),
    ("maximum", Shape::Number),
    ("exclusiveMaximum", Shape::Number),
    ("multipleOf", Shape::Positive),
    ("prefixItems", Shape::Schemas),
    ("items", Shape::Schema),
    ("minItems", Shape::Count),
    ("maxItems", Shape::Count),
    ("uniqueItems", Shape::Flag),
    ("properties", Shape::SchemaMap),
    ("required", Shape::Strings),
    ("patternProperties", Shape::SchemaMap),
    ("propertyNames", Shape::Schema),
    ("additionalProperties", Shape::Schema),
    ("unevaluatedProperties", Shape::Schema),
    ("minProperties", Shape::Count),
    ("maxProperties", Shape::Count),
    ("oneOf", Shape::Schemas),
    ("anyOf", Shape::Schemas),
    ("allOf", Shape::Schemas),
    ("not", Shape::Schema),
    ("default", Shape::Any),
    ("examples", Shape::List),
    ("$id", Shape::Id),
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
    ("contains", Shape::Schema),
    ("dependentSchemas", Shape::SchemaMap),
    ("if", Shape::Schema),
    ("then", Shape::Schema),
    ("else", Shape::Schema),
    ("unevaluatedItems", Shape::Schema),
    ("const", Shape::Any),
    ("maxContains", Shape::Count),
    ("minContains", Shape::Count),
    ("dependentRequired", Shape::StringsMap),
    ("contentEncoding", Shape::Text),
    ("contentMediaType", Shape::Text),
    ("contentSchema", Shape::Schema),
    ("readOnly", Shape::Flag),
    ("writeOnly", Shape::Flag),
];

/// How many keywords of [`KEYWORDS`] have a place of their own. Others follow them in the order in which they were.
const WRITTEN_FIRST: usize = 35;

/// The names of the types.
pub(crate) const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// What the value of the keyword must be; an unknown keyword may hold anything.
pub(crate) fn shape_of(keyword: &str) -> Shape {
    KEYWORDS
        .iter()
        .find(|(name, _)| *name == keyword)
        .map_or(Shape::Any, |(_, shape)| *shape)
}

/// The place of the keyword in a schema that is written.
pub(crate) fn rank(keyword: &str) -> usize {
    KEYWORDS
        .iter()
        .take(WRITTEN_FIRST)
        .position(|(name, _)| *name == keyword)
        .unwrap_or(WRITTEN_FIRST)
}

/// Whether the keyword says something about a schema without restricting its values.
pub fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title" | "description" | "default" | "examples" | "deprecated" | "$comment"
    ) || keyword.starts_with("x-")
}
