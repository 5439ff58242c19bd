//! The rules of inputs that callers over MCP repeat in a header: `x-mcp-header` in a schema.
//!
//! A client drops a tool whose annotations break one of them, without a word to its author.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::text::{push_step, quoted};
use super::violation::{Violation, code};

/// The keyword.
pub const HEADER_KEYWORD: &str = "x-mcp-header";

/// The largest number of levels that are looked at; deeper schemas are refused elsewhere.
const MAX_DEPTH: usize = 64;

/// Checks the annotations `x-mcp-header` in the schema of inputs. Pointers lead into the spec, `/contract/inputs/…`.
pub fn check_header_annotations(inputs: &Value) -> Vec<Violation> {
    let mut walk = Walk {
        names: BTreeSet::new(),
        found: Vec::new(),
    };
    if let Some(root) = inputs.as_object() {
        if root.contains_key(HEADER_KEYWORD) {
            walk.report(
                "/contract/inputs",
                "marks the whole input object: mark one of its fields",
            );
        }
        walk.schema(root, "/contract/inputs", true, 0);
    }
    walk.found
}

struct Walk {
    /// The headers, in lower case.
    names: BTreeSet<String>,
    found: Vec<Violation>,
}

impl Walk {
    fn report(&mut self, pointer: &str, what: &str) {
        let pointer = format!("{pointer}/{HEADER_KEYWORD}");
        let message = format!("`{HEADER_KEYWORD}` {what}");
        self.found.push(Violation::error(
            code::INVALID_MCP_HEADER,
            pointer,
            "inputs",
            message,
        ));
    }

    /// Looks into a schema. `by_fields` says whether only fields of objects lead to it.
    fn schema(&mut self, schema: &Map<String, Value>, pointer: &str, by_fields: bool, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        for (keyword, value) in schema {
            let below = below(pointer, keyword);
            match keyword.as_str() {
                // Data and names, no schemas.
                "default" | "const" | "enum" | "examples" | "required" | "dependentRequired" => {}
                "properties" | "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => {
                    let fields = by_fields && keyword == "properties";
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        let below = self::below(&below, name);
                        self.field(schema, &below, fields, depth);
                    }
                }
                _ => match value {
                    Value::Array(schemas) => {
                        for (index, schema) in schemas.iter().enumerate() {
                            self.field(schema, &format!("{below}/{index}"), false, depth);
                        }
                    }
                    schema => self.field(schema, &below, false, depth),
                },
            }
        }
    }

    fn field(&mut self, schema: &Value, pointer: &str, by_fields: bool, depth: usize) {
        let Some(schema) = schema.as_object() else {
            return;
        };
        if let Some(header) = schema.get(HEADER_KEYWORD) {
            self.annotation(header, schema, pointer, by_fields);
        }
        self.schema(schema, pointer, by_fields, depth + 1);
    }

    fn annotation(&mut self, header: &Value, schema: &Map<String, Value>, pointer: &str, by_fields: bool) {
        if !by_fields {
            let what = "stands where the value has no fixed place (in a list, a variant or a shared type): mark a \
                        field of the input object, or of an object in it";
            self.report(pointer, what);
            return;
        }
        let Some(name) = header.as_str() else {
            self.report(
                pointer,
                "must be a text: the name of the header behind `Mcp-Param-`",
            );
            return;
        };
        if name.is_empty() || !name.bytes().all(is_token) {
            let what = format!(
                "is {}, which is no name of a header: use letters, digits and `-`",
                quoted(name)
            );
            self.report(pointer, &what);
        } else if !self.names.insert(name.to_ascii_lowercase()) {
            let what = format!(
                "names {} twice: capitals make no difference, use another name",
                quoted(name)
            );
            self.report(pointer, &what);
        }
        if !is_plain(schema.get("type")) {
            let what = "marks a field that is no text, integer or boolean: only these can stand in a header";
            self.report(pointer, what);
        }
    }
}

/// The place of a member.
fn below(pointer: &str, key: &str) -> String {
    let mut below = pointer.to_owned();
    push_step(&mut below, key);
    below
}

/// Whether the type is one that headers can hold; it may also allow null, which is an absent header.
fn is_plain(kind: Option<&Value>) -> bool {
    let plain = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind {
        Some(Value::Array(kinds)) => {
            let mut others = kinds.iter().filter(|kind| *kind != "null");
            others.next().is_some_and(plain) && others.next().is_none()
        }
        Some(kind) => plain(kind),
        None => false,
    }
}

/// A character of a name in HTTP.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pointers(schema: &Value) -> Vec<String> {
        let found = check_header_annotations(schema);
        assert!(found.iter().all(|one| one.code == "invalid_mcp_header"));
        found.into_iter().map(|one| one.pointer).collect()
    }

    #[test]
    fn marked_fields_are_plain_values_with_names_of_their_own() {
        let good = json!({"properties": {
            "a": {"type": "string", "x-mcp-header": "Region"},
            "b": {"type": ["integer", "null"], "x-mcp-header": "Count"},
            "c": {"properties": {"d": {"type": "boolean", "x-mcp-header": "Deep"}}},
            "x-mcp-header": {"type": "string"},
        }, "default": {"x-mcp-header": 1}});
        assert_eq!(pointers(&good), [""; 0]);
        for (field, problems) in [
            (json!({"type": "string", "x-mcp-header": ""}), 1),
            (json!({"type": "string", "x-mcp-header": "a b"}), 1),
            (json!({"type": "string", "x-mcp-header": "a:b"}), 1),
            (json!({"type": "string", "x-mcp-header": "Ё"}), 1),
            (json!({"type": "string", "x-mcp-header": true}), 1),
            (json!({"type": "number", "x-mcp-header": "A"}), 1),
            (json!({"type": ["string", "integer"], "x-mcp-header": "A"}), 1),
            (json!({"x-mcp-header": "A"}), 1),
            (json!({"type": "array", "x-mcp-header": "a b"}), 2),
        ] {
            let schema = json!({"properties": {"a/b": field}});
            assert_eq!(
                pointers(&schema),
                vec!["/contract/inputs/properties/a~1b/x-mcp-header"; problems]
            );
        }
    }

    #[test]
    fn a_marked_value_has_one_place() {
        let marked = json!({"type": "string", "x-mcp-header": "A"});
        for (schema, pointer) in [
            (json!({"x-mcp-header": "A"}), "/contract/inputs/x-mcp-header"),
            (json!({"items": marked}), "/contract/inputs/items/x-mcp-header"),
            (
                json!({"oneOf": [{"properties": {"a": marked}}]}),
                "/contract/inputs/oneOf/0/properties/a/x-mcp-header",
            ),
            (
                json!({"$defs": {"a": marked}}),
                "/contract/inputs/$defs/a/x-mcp-header",
            ),
            (
                json!({"properties": {"a": marked, "b": {"type": "string", "x-mcp-header": "a"}}}),
                "/contract/inputs/properties/b/x-mcp-header",
            ),
        ] {
            assert_eq!(pointers(&schema), [pointer], "{schema}");
        }
    }
}
