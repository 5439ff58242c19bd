//! The schemas of outputs, which serde writes and never reads.

use serde_json::Value;

use crate::walk::{Node, children_mut, is_null};

/// Brings the schema of something that serde writes into the form in which a reader should see it.
pub(super) fn loosen(schema: &mut Value) {
    visit(schema, false);
}

fn visit(schema: &mut Value, alternative: bool) {
    let Value::Object(node) = schema else { return };
    // `deny_unknown_fields` is about reading, and draft-07 does not know this keyword.
    if node.get("unevaluatedProperties") == Some(&Value::Bool(false)) {
        node.shift_remove("unevaluatedProperties");
    }
    // The one field of an alternative is the name of its variant, without which it could be any of them.
    let fields = node
        .get("properties")
        .and_then(Value::as_object)
        .map_or(0, Node::len);
    if !(alternative && fields == 1) {
        drop_nullable(node);
    }
    children_mut(node, &mut |keyword, child| {
        visit(child, matches!(keyword, "oneOf" | "anyOf"));
    });
}

/// Takes the fields that may be null out of `required`. serde writes `None` as null, so such a field is always
/// there; but a reader does well not to count on it, and `skip_serializing_if` may be added without a new version.
fn drop_nullable(node: &mut Node) {
    let Some(Value::Object(fields)) = node.get("properties") else {
        return;
    };
    let nullable: Vec<String> = fields
        .iter()
        .filter(|(_, field)| is_nullable(field))
        .map(|(name, _)| name.clone())
        .collect();
    let Some(Value::Array(required)) = node.get_mut("required") else {
        return;
    };
    required.retain(|name| !nullable.iter().any(|one| name == one));
    if required.is_empty() {
        node.shift_remove("required");
    }
}

/// Whether `schema` is a type or null, as `Option` writes it.
fn is_nullable(schema: &Value) -> bool {
    let types = schema.get("type").and_then(Value::as_array);
    let union = schema.get("anyOf").and_then(Value::as_array);
    types.is_some_and(|types| types.iter().any(|one| one == "null"))
        || union.is_some_and(|branches| branches.iter().any(is_null))
}
