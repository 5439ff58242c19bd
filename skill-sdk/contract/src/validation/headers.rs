//! The rules of inputs that callers over MCP repeat in a header: `x-mcp-header` in a schema.
//!
//! A client drops a tool whose annotations break one of them, without a word to its author.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::violation::{Violation, code};
use crate::text::quoted;
use crate::tree::{Role, Step, Tree};

/// The keyword.
const HEADER_KEYWORD: &str = "x-mcp-header";

/// Reports the annotations in the schema of inputs that a client does not take.
pub(super) fn check(inputs: &Value, found: &mut Vec<Violation>) {
    let tree = Tree::new(inputs);
    let mut names = BTreeSet::new();
    // Whether only fields of objects lead to a node, or to the container that `properties` is.
    let mut by_fields: Vec<bool> = Vec::with_capacity(tree.nodes.len());
    for (at, node) in tree.nodes.iter().enumerate() {
        let parent = by_fields.get(node.parent).copied().unwrap_or(true);
        let step = match (node.step, node.role) {
            (Step::Root, _) => true,
            (Step::Key(key), Role::Schemas) => key == "properties",
            (Step::Key(_), Role::Schema) => tree
                .nodes
                .get(node.parent)
                .is_some_and(|one| one.role == Role::Schemas),
            _ => false,
        };
        by_fields.push(parent && step);
        let Some(schema) = node.value.as_object().filter(|_| node.role == Role::Schema) else {
            continue;
        };
        let Some(header) = schema.get(HEADER_KEYWORD) else {
            continue;
        };
        for problem in problems(header, schema, at == 0, parent && step, &mut names) {
            let pointer = format!("{}/{HEADER_KEYWORD}", tree.pointer("/inputs", at));
            let message = format!("`{HEADER_KEYWORD}` {problem}");
            found.push(Violation::error(
                code::INVALID_MCP_HEADER,
                pointer,
                "inputs",
                message,
            ));
        }
    }
}

fn problems(
    header: &Value,
    schema: &Map<String, Value>,
    is_root: bool,
    by_fields: bool,
    names: &mut BTreeSet<String>,
) -> Vec<String> {
    if is_root {
        return vec!["marks the whole input object: mark one of its fields".to_owned()];
    }
    if !by_fields {
        let message = "stands where the value has no fixed place (in a list, a variant or a shared type): mark a \
                       field of the input object, or of an object in it";
        return vec![message.to_owned()];
    }
    let Some(name) = header.as_str() else {
        return vec!["must be a text: the name of the header behind `Mcp-Param-`".to_owned()];
    };
    let mut problems = Vec::new();
    if name.is_empty() || !name.bytes().all(is_token) {
        problems.push(format!(
            "is {}, which is no name of a header: use letters, digits and `-`",
            quoted(name)
        ));
    } else if !names.insert(name.to_ascii_lowercase()) {
        problems.push(format!(
            "names {} twice: capitals make no difference, use another name",
            quoted(name)
        ));
    }
    if !is_plain(schema.get("type")) {
        let message = "marks a field that is no text, integer or boolean: only these can stand in a header";
        problems.push(message.to_owned());
    }
    problems
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
        let mut found = Vec::new();
        check(schema, &mut found);
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
                vec!["/inputs/properties/a~1b/x-mcp-header"; problems]
            );
        }
    }

    #[test]
    fn a_marked_value_has_one_place() {
        let marked = json!({"type": "string", "x-mcp-header": "A"});
        for (schema, pointer) in [
            (json!({"x-mcp-header": "A"}), "/inputs/x-mcp-header"),
            (json!({"items": marked}), "/inputs/items/x-mcp-header"),
            (
                json!({"oneOf": [{"properties": {"a": marked}}]}),
                "/inputs/oneOf/0/properties/a/x-mcp-header",
            ),
            (json!({"$defs": {"a": marked}}), "/inputs/$defs/a/x-mcp-header"),
            (
                json!({"properties": {"a": marked, "b": {"type": "string", "x-mcp-header": "a"}}}),
                "/inputs/properties/b/x-mcp-header",
            ),
        ] {
            assert_eq!(pointers(&schema), [pointer], "{schema}");
        }
    }
}
