//! The way back from the strict profile.
//!
//! There a property that may be missing is required and may be null. A model that was told so writes null for it, which the
//! type's own schema need not allow: it is left out again.

use serde_json::Value;

/// How deep references and branches are followed.
const MAX_LEVELS: usize = 128;

/// Takes away the nulls of properties that may be missing and may not be null.
pub(super) fn leave_out(value: &mut Value, schema: &Value) {
    walk(value, schema, schema, 0);
}

fn walk(value: &mut Value, schema: &Value, root: &Value, level: usize) {
    if level > MAX_LEVELS {
        return;
    }
    let schema = resolve(schema, root, level);
    for keyword in ["anyOf", "oneOf", "allOf"] {
        for branch in schema
            .get(keyword)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if is_meant(value, resolve(branch, root, level)) {
                walk(value, branch, root, level + 1);
            }
        }
    }
    match value {
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    walk(item, schema, root, level + 1);
                }
            }
        }
        Value::Object(members) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, schema_of_member) in properties.into_iter().flatten() {
                match members.get_mut(name) {
                    None => {}
                    Some(Value::Null)
                        if !is_required(schema, name) && !allows_null(schema_of_member, root, level) =>
                    {
                        // The order of the others is kept.
                        members.shift_remove(name);
                    }
                    Some(member) => walk(member, schema_of_member, root, level + 1),
                }
            }
        }
        _ => {}
    }
}

fn resolve<'a>(mut schema: &'a Value, root: &'a Value, level: usize) -> &'a Value {
    for _ in level..MAX_LEVELS {
        let target = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| root.pointer(reference.strip_prefix('#')?));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

fn allows_null(schema: &Value, root: &Value, level: usize) -> bool {
    let schema = resolve(schema, root, level);
    if level > MAX_LEVELS {
        return true;
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
            return branches.iter().any(|branch| allows_null(branch, root, level + 1));
        }
    }
    match (schema.get("type"), schema.get("enum").and_then(Value::as_array)) {
        (Some(Value::String(name)), _) => name == "null",
        (Some(Value::Array(names)), _) => names.iter().any(|name| name == "null"),
        (_, Some(values)) => values.contains(&Value::Null),
        _ => true,
    }
}

/// Whether a branch may be the one that the value was written by: its required members are there, and its fixed values are
/// those of the value.
fn is_meant(value: &Value, branch: &Value) -> bool {
    let Value::Object(members) = value else {
        return true;
    };
    let required = branch.get("required").and_then(Value::as_array);
    let complete = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .all(|name| members.contains_key(name));
    let properties = branch.get("properties").and_then(Value::as_object);
    let fixed = properties.into_iter().flatten().all(|(name, schema)| {
        let values = schema.get("enum").and_then(Value::as_array);
        match (members.get(name), values) {
            (Some(member), Some(values)) => member.is_null() || values.contains(member),
            _ => true,
        }
    });
    complete && fixed
}
