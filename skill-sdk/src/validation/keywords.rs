//! What is done with the keywords of a schema.

use serde_json::{Map, Value};

/// Keywords that apply schemas to the value or its parts: [`walk`](super::walk) knows all of them.
pub(super) const APPLICATORS: &[&str] = &[
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "dependentSchemas",
    "else",
    "if",
    "items",
    "maxContains",
    "minContains",
    "not",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "then",
];

/// Keywords that do not restrict values.
const SILENT: &[&str] = &[
    "$comment",
    "$defs",
    "$schema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// Keywords whose meaning, or that of references, depends on the whole document.
const FAR_REACHING: &[&str] = &[
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$vocabulary",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords that try several schemas on the same value.
const CHOICES: &[&str] = &["allOf", "anyOf", "dependentSchemas", "if", "not", "oneOf"];

/// How many schemas a document may have when its references are followed.
const MAX_FOLLOWED: usize = 10_000;

/// Whether a keyword does not restrict values. Annotations of authors begin with `x-`.
pub(super) fn is_silent(keyword: &str) -> bool {
    SILENT.contains(&keyword) || keyword.starts_with("x-")
}

/// What validates a document.
pub(super) enum Handling {
    /// [`walk`](super::walk).
    Walk,
    /// `jsonschema`.
    Whole,
    /// Nothing does in bounded time; the reason.
    Unbounded(String),
}

/// What validates a document that `jsonschema` accepts.
pub(super) fn handling(document: &Value) -> Handling {
    let schemas = schemas_of(document);
    let is_local = |reference: &str| reference.strip_prefix('#').is_some_and(is_pointer);
    let depends_on_the_whole = schemas.iter().enumerate().any(|(index, members)| {
        let far = members.keys().any(|name| FAR_REACHING.contains(&name.as_str()));
        let reference = members.get("$ref").and_then(Value::as_str);
        // `$schema` in a part changes the language of that part.
        far || (index > 0 && members.contains_key("$schema"))
            || reference.is_some_and(|reference| !is_local(reference))
    });
    if !depends_on_the_whole {
        return Handling::Walk;
    }
    // Alternatives that refer to themselves take `jsonschema` exponential time. Whether a reference in such a document does is
    // not followed.
    let mut keywords = schemas.iter().flat_map(|members| members.keys());
    if keywords.any(|name| CHOICES.contains(&name.as_str())) && !is_small(document) {
        return Handling::Unbounded(format!(
            "recursive references and alternatives cannot be combined with any of {}",
            FAR_REACHING.join(", ")
        ));
    }
    Handling::Whole
}

fn is_pointer(fragment: &str) -> bool {
    (fragment.is_empty() || fragment.starts_with('/')) && !fragment.contains('%')
}

/// Whether a document stays small when all references in it are followed, which a recursive one does not.
fn is_small(document: &Value) -> bool {
    let mut left = vec![document];
    for _ in 0..MAX_FOLLOWED {
        let Some(schema) = left.pop() else {
            return true;
        };
        if left.len() > MAX_FOLLOWED {
            return false;
        }
        if schema
            .get("$dynamicRef")
            .or_else(|| schema.get("$recursiveRef"))
            .is_some()
        {
            return false;
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        left.extend(reference.and_then(|reference| document.pointer(reference.strip_prefix('#')?)));
        left.extend(subschemas(schema));
    }
    false
}

/// The schemas of a document that are objects, the document first.
pub(super) fn schemas_of(document: &Value) -> Vec<&Map<String, Value>> {
    let mut found = Vec::new();
    let mut left = vec![document];
    while let Some(schema) = left.pop() {
        found.extend(schema.as_object());
        left.extend(subschemas(schema));
    }
    found
}

/// The schemas that stand in a schema.
fn subschemas(schema: &Value) -> impl Iterator<Item = &Value> {
    schema
        .as_object()
        .into_iter()
        .flatten()
        .flat_map(schemas_of_keyword)
}

fn schemas_of_keyword<'a>((keyword, rule): (&'a String, &'a Value)) -> Vec<&'a Value> {
    match (keyword.as_str(), rule) {
        // Their members are data, not schemas.
        ("const" | "default" | "enum" | "examples", _) => Vec::new(),
        // Their members are names, not keywords.
        (
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties",
            Value::Object(schemas),
        ) => schemas.values().collect(),
        (_, Value::Array(schemas)) => schemas.iter().collect(),
        (_, schema) => vec![schema],
    }
}

/// A schema's keywords that look at one value only, as a schema; `None` where there are none.
pub(super) fn own(members: &Map<String, Value>) -> Option<Value> {
    let looks_at_one_value =
        |(name, _): &(&String, &Value)| !APPLICATORS.contains(&name.as_str()) && !is_silent(name);
    let copied = |(name, rule): (&String, &Value)| (name.clone(), rule.clone());
    let mut own: Map<_, _> = members.iter().filter(looks_at_one_value).map(copied).collect();
    if members.get("additionalProperties") == Some(&Value::Bool(false)) {
        // Only the names of the properties matter to it.
        for keyword in ["properties", "patternProperties"] {
            if let Some(named) = members.get(keyword).and_then(Value::as_object) {
                let names: Map<_, _> = named.keys().map(|name| (name.clone(), true.into())).collect();
                own.insert(keyword.to_owned(), names.into());
            }
        }
        own.insert("additionalProperties".to_owned(), false.into());
    }
    (!own.is_empty()).then_some(own.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_bounded_is_rejected() {
        let recursive = json!({"anyOf": [{"type": "null"}, {"properties": {"next": {"$ref": "#/$defs/A"}}}]});
        let walked = json!({"$defs": {"A": recursive}, "$ref": "#/$defs/A", "properties": {"$id": {"type": "string"}}});
        assert!(matches!(handling(&walked), Handling::Walk));
        for far in [
            json!({"$id": "https://example.com"}),
            json!({"unevaluatedProperties": false}),
        ] {
            let with = |mut schema: Value| {
                schema["properties"] = json!({"far": far});
                schema
            };
            let flat = with(json!({"anyOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"type": "object"}}}));
            assert!(matches!(handling(&flat), Handling::Whole), "{flat}");
            let list = with(json!({"$ref": "#/$defs/A", "$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}}));
            assert!(matches!(handling(&list), Handling::Whole), "{list}");
            let choice = with(json!({"$ref": "#/$defs/A", "$defs": {"A": recursive}}));
            assert!(matches!(handling(&choice), Handling::Unbounded(_)), "{choice}");
        }
        let dynamic = json!({"anyOf": [{"$dynamicRef": "#a"}, {"$dynamicAnchor": "a"}]});
        assert!(matches!(handling(&dynamic), Handling::Unbounded(_)));
    }

    #[test]
    fn a_rule_about_other_names_keeps_the_names() {
        let schema = json!({
            "type": "object", "title": "T", "x-note": 1, "required": ["a"],
            "properties": {"a": {"type": "string"}}, "additionalProperties": false,
        });
        assert_eq!(
            own(schema.as_object().unwrap()).unwrap(),
            json!({"type": "object", "required": ["a"], "properties": {"a": true}, "additionalProperties": false})
        );
        assert_eq!(own(json!({"items": {}, "title": "T"}).as_object().unwrap()), None);
    }
}
