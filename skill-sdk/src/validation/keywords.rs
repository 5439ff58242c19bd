//! The keywords of a schema, by the way they are validated.

use serde_json::{Map, Value};

use crate::contract::is_annotation;

/// Keywords that apply schemas to the value or its parts: [`walk`](super::walk) knows all of them.
const APPLICATORS: &str = "$ref additionalProperties allOf anyOf contains dependentSchemas else if items maxContains minContains \
                           not oneOf patternProperties prefixItems properties propertyNames then";

/// Keywords whose meaning, or that of references, depends on the whole document.
const FAR_REACHING: &str = "$anchor $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $vocabulary unevaluatedItems \
                            unevaluatedProperties";

/// Keywords that try several schemas on the same value.
const CHOICES: &str = "allOf anyOf dependentSchemas if not oneOf";

/// How many schemas a document may have when its references are followed.
const MAX_FOLLOWED: usize = 10_000;

fn is_among(keyword: &str, list: &str) -> bool {
    list.split(' ').any(|one| one == keyword)
}

/// Whether a keyword applies schemas to the value or its parts.
pub(super) fn is_applicator(keyword: &str) -> bool {
    is_among(keyword, APPLICATORS)
}

/// Whether a keyword does not restrict values.
pub(super) fn is_silent(keyword: &str) -> bool {
    is_annotation(keyword) || is_among(keyword, "$defs $schema definitions readOnly writeOnly")
}

/// Whether `jsonschema` has to validate a document as a whole, since [`walk`](super::walk) does not know all of its keywords.
/// An error if that takes time without a bound.
pub(super) fn needs_jsonschema(document: &Value) -> Result<bool, String> {
    let schemas = schemas_of(document);
    let is_local = |reference: &str| reference.strip_prefix('#').is_some_and(is_pointer);
    let depends_on_the_whole = schemas.iter().enumerate().any(|(index, members)| {
        let far = members.keys().any(|name| is_among(name, FAR_REACHING));
        let reference = members.get("$ref").and_then(Value::as_str);
        // `$schema` in a part changes the language of that part.
        far || (index > 0 && members.contains_key("$schema"))
            || reference.is_some_and(|reference| !is_local(reference))
    });
    if !depends_on_the_whole {
        return Ok(false);
    }
    // Alternatives that refer to themselves take `jsonschema` exponential time. Whether a reference in such a document does is
    // not followed.
    let mut keywords = schemas.iter().flat_map(|members| members.keys());
    if keywords.any(|name| is_among(name, CHOICES)) && !is_small(document) {
        return Err(format!(
            "recursive references and alternatives cannot be combined with any of {}",
            FAR_REACHING.replace(' ', ", ")
        ));
    }
    Ok(true)
}

fn is_pointer(fragment: &str) -> bool {
    (fragment.is_empty() || fragment.starts_with('/')) && !fragment.contains('%')
}

/// Whether a document stays small when all references in it are followed. A recursive document does not.
fn is_small(document: &Value) -> bool {
    let (mut open, mut followed) = (vec![document], 0);
    while let Some(schema) = open.pop() {
        for members in schemas_of(schema) {
            followed += 1;
            let is_dynamic = members.contains_key("$dynamicRef") || members.contains_key("$recursiveRef");
            if is_dynamic || followed > MAX_FOLLOWED {
                return false;
            }
            let reference = members.get("$ref").and_then(Value::as_str);
            open.extend(reference.and_then(|reference| document.pointer(reference.strip_prefix('#')?)));
        }
    }
    true
}

/// The schemas of a document that are objects, the document first.
pub(super) fn schemas_of(document: &Value) -> Vec<&Map<String, Value>> {
    let mut found = Vec::new();
    each_schema(document, "", &mut |_, members| found.push(members));
    found
}

/// Calls `visit` with the JSON pointer to each schema that is an object, and its keywords. Unknown keywords may hold schemas,
/// since a reference may lead there.
pub(super) fn each_schema<'a>(
    schema: &'a Value,
    pointer: &str,
    visit: &mut dyn FnMut(&str, &'a Map<String, Value>),
) {
    for (index, part) in schema.as_array().into_iter().flatten().enumerate() {
        each_schema(part, &format!("{pointer}/{index}"), visit);
    }
    let Value::Object(members) = schema else { return };
    visit(pointer, members);
    for (keyword, rule) in members {
        let pointer = format!("{pointer}/{keyword}");
        match (keyword.as_str(), rule) {
            // Data, not schemas.
            ("const" | "default" | "enum" | "examples", _) => {}
            // Schemas by name.
            (
                "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties",
                Value::Object(schemas),
            ) => {
                for (name, schema) in schemas {
                    each_schema(schema, &format!("{pointer}/{}", pointer_step(name)), visit);
                }
            }
            (_, rule) => each_schema(rule, &pointer, visit),
        }
    }
}

/// A name as a part of a JSON pointer.
pub(super) fn pointer_step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A schema's keywords that look at one value only, as a schema, if it has any.
pub(super) fn own(members: &Map<String, Value>) -> Option<Value> {
    let looks_at_one_value = |(name, _): &(&String, &Value)| !is_applicator(name) && !is_silent(name);
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
        assert_eq!(needs_jsonschema(&walked), Ok(false));
        for far in [
            json!({"$id": "https://example.com"}),
            json!({"unevaluatedProperties": false}),
        ] {
            let with = |mut schema: Value| {
                schema["properties"] = json!({"far": far});
                schema
            };
            let flat = with(json!({"anyOf": [{"$ref": "#/$defs/A"}], "$defs": {"A": {"type": "object"}}}));
            assert_eq!(needs_jsonschema(&flat), Ok(true), "{flat}");
            let list = with(json!({"$ref": "#/$defs/A", "$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}}));
            assert_eq!(needs_jsonschema(&list), Ok(true), "{list}");
            let choice = with(json!({"$ref": "#/$defs/A", "$defs": {"A": recursive}}));
            assert!(needs_jsonschema(&choice).is_err(), "{choice}");
        }
        let dynamic = json!({"anyOf": [{"$dynamicRef": "#a"}, {"$dynamicAnchor": "a"}]});
        assert!(needs_jsonschema(&dynamic).is_err());
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
