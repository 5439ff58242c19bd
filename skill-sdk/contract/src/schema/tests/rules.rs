//! What holds for every schema.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::keywords::is_annotation;
use crate::walk;

/// Fails when `schema` breaks one of the promises of the module.
pub(super) fn check(schema: &Value, name: &str) {
    let root = schema.as_object().unwrap();
    assert_eq!(
        root.keys().next().map(String::as_str),
        Some("$schema"),
        "{name}: $schema comes first"
    );
    assert_eq!(
        root["$schema"], "https://json-schema.org/draft/2020-12/schema",
        "{name}"
    );
    assert_eq!(root["type"], "object", "{name}: the root is an object");
    assert!(
        jsonschema::draft202012::meta::is_valid(schema),
        "{name}: not valid 2020-12: {schema}"
    );
    let mut as_draft_07 = schema.clone();
    as_draft_07["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    assert!(
        jsonschema::draft7::meta::is_valid(&as_draft_07),
        "{name}: not valid draft-07: {schema}"
    );

    let defs = root
        .get("$defs")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let mut used: BTreeSet<String> = BTreeSet::new();
    for part in std::iter::once(schema).chain(defs.values()) {
        walk::each(part, &mut |node| {
            for absent in [
                "const",
                "readOnly",
                "writeOnly",
                "prefixItems",
                "patternProperties",
                "title",
            ] {
                assert!(!node.contains_key(absent), "{name}: {absent} in {node:?}");
            }
            if let Some(reference) = node.get("$ref") {
                assert_eq!(node.len(), 1, "{name}: keywords beside a $ref in {node:?}");
                let target = reference.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                assert!(defs.contains_key(target), "{name}: {target} is not in $defs");
                used.insert(target.to_owned());
            }
            if let Some(format) = node.get("format") {
                let known = [
                    "date-time",
                    "date",
                    "email",
                    "uri",
                    "uuid",
                    "ipv4",
                    "ipv6",
                    "hostname",
                ];
                assert!(known.iter().any(|one| format == one), "{name}: format {format}");
            }
            walk::children_mut(&mut node.clone(), &mut |keyword, child| {
                let may = matches!(keyword, "additionalProperties");
                assert!(may || !child.is_boolean(), "{name}: a bare {child} at {keyword}");
                let untyped = child
                    .as_object()
                    .is_some_and(|child| child.keys().all(|key| is_annotation(key)));
                let described = || {
                    child["description"]
                        .as_str()
                        .is_some_and(|text| text.contains("Any JSON value."))
                };
                let none_of_these = *child == json!({}) && matches!(keyword, "anyOf" | "oneOf");
                assert!(
                    !untyped || none_of_these || described(),
                    "{name}: {child} at {keyword} does not say what it is"
                );
            });
        });
    }
    assert_eq!(used.len(), defs.len(), "{name}: unused types in $defs: {schema}");
}
