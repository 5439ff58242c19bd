//! A choice at the root as one object: it has the properties of all branches, and its description says which of them go
//! together. Calls are validated against the contract, so the choice itself is not lost.

use serde_json::{Value, json};

use super::super::docs::joined;
use super::super::refs::{Defs, target};
use super::merge;
use super::optional::{literals, required};
use crate::walk::{Node, has_type};

/// How many choices may be inside each other.
const MAX_DEPTH: usize = 8;

/// Folds `allOf`, `oneOf` and `anyOf` of the root.
pub(super) fn fold_root(root: &mut Node) {
    let defs = root.get("$defs").and_then(Value::as_object).cloned();
    fold(root, &defs.unwrap_or_default(), 0);
}

fn fold(node: &mut Node, defs: &Defs, depth: usize) {
    for keyword in ["allOf", "oneOf", "anyOf"] {
        let Some(Value::Array(branches)) = node.get(keyword) else {
            continue;
        };
        let branches: Vec<Node> = branches
            .iter()
            .filter_map(|branch| object(branch, defs, depth))
            .collect();
        node.shift_remove(keyword);
        if keyword == "allOf" {
            for branch in branches {
                take(node, vec![branch]);
            }
        } else if !branches.is_empty() {
            let rules: Vec<String> = branches.iter().map(rule).collect();
            describe(node, &format!("One of:\n{}", rules.join("\n")));
            take(node, branches);
        }
    }
}

/// A branch without choices of its own, if its values can be objects.
fn object(branch: &Value, defs: &Defs, depth: usize) -> Option<Node> {
    let mut node = branch.as_object().filter(|_| depth < MAX_DEPTH)?.clone();
    if let Some(Value::Object(definition)) = target(&node).and_then(|name| defs.get(name)) {
        node.shift_remove("$ref");
        merge(&mut node, definition.clone());
    }
    if node.contains_key("type") && !has_type(&node, "object") {
        return None;
    }
    fold(&mut node, defs, depth + 1);
    Some(node)
}

/// Takes over what is in the branches: every property, and what all of them require.
fn take(node: &mut Node, branches: Vec<Node>) {
    let is_closed = |branch: &Node| {
        branch
            .get("additionalProperties")
            .is_some_and(|more| *more == false)
    };
    let has_own = node
        .get("properties")
        .is_some_and(|own| own.as_object().is_none_or(|own| !own.is_empty()));
    let all_closed = !has_own && branches.iter().all(is_closed);
    if node
        .shift_remove("unevaluatedProperties")
        .is_some_and(|more| more == false)
        || all_closed
    {
        node.insert("additionalProperties".to_owned(), false.into());
    }
    let all: Vec<Value> = branches.iter().cloned().map(Value::Object).collect();
    let mut names: Vec<String> = required(&Value::Object(node.clone()))
        .map(str::to_owned)
        .collect();
    for name in all.first().into_iter().flat_map(required) {
        let in_all = all
            .iter()
            .all(|branch| required(branch).any(|other| other == name));
        if in_all && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    let mut taken = Node::new();
    for branch in branches {
        if let ([_], Some(Value::String(text))) = (&*all, branch.get("description")) {
            describe(node, text);
        }
        if let Some(Value::Object(properties)) = branch.get("properties").cloned() {
            for (name, property) in properties {
                match taken.get_mut(&name) {
                    Some(known) => *known = either(known.take(), property),
                    None => drop(taken.insert(name, property)),
                }
            }
        }
    }
    if let Value::Object(own) = node.entry("properties").or_insert_with(|| json!({})) {
        for (name, property) in taken {
            own.entry(name).or_insert(property);
        }
    }
    if !names.is_empty() {
        node.insert("required".to_owned(), names.into());
    }
}

/// The schema of what is valid under one of two.
fn either(one: Value, other: Value) -> Value {
    if one == other {
        return one;
    }
    let (values, more) = (literals(&one), literals(&other));
    if !values.is_empty() && !more.is_empty() {
        let more = more.iter().filter(|value| !values.contains(value));
        let values: Vec<&Value> = values.iter().chain(more).collect();
        return match one.get("type").filter(|kind| other.get("type") == Some(kind)) {
            Some(kind) => json!({"type": kind, "enum": values}),
            None => json!({"enum": values}),
        };
    }
    let mut branches = match one {
        Value::Object(node) if node.len() == 1 && node.contains_key("anyOf") => {
            node["anyOf"].as_array().cloned().unwrap_or_default()
        }
        one => vec![one],
    };
    if !branches.contains(&other) {
        branches.push(other);
    }
    json!({"anyOf": branches})
}

/// What belongs to one branch: `` - `action`: "add", `title`; optional: `note` (what the branch is) ``.
fn rule(branch: &Node) -> String {
    let whole = Value::Object(branch.clone());
    let properties = branch.get("properties").and_then(Value::as_object);
    let needed: Vec<String> = required(&whole)
        .map(|name| {
            let property = properties.and_then(|properties| properties.get(name));
            match property.map_or(&[][..], literals) {
                [fixed] => format!("`{name}`: {fixed}"),
                _ => format!("`{name}`"),
            }
        })
        .collect();
    let names = properties.into_iter().flat_map(|properties| properties.keys());
    let optional: Vec<String> = names
        .filter(|name| required(&whole).all(|needed| needed != name.as_str()))
        .map(|name| format!("`{name}`"))
        .collect();
    let mut parts = Vec::new();
    if !needed.is_empty() {
        parts.push(needed.join(", "));
    }
    if !optional.is_empty() {
        parts.push(format!("optional: {}", optional.join(", ")));
    }
    let mut rule = if parts.is_empty() {
        "nothing".to_owned()
    } else {
        parts.join("; ")
    };
    if let Some(Value::String(text)) = branch.get("description") {
        rule += &format!(" ({text})");
    }
    format!("- {}", rule.replace('\n', "\n  "))
}

/// Adds a paragraph to the description.
fn describe(node: &mut Node, text: &str) {
    let own = node
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let whole = joined(own, text);
    // It stands where the author's own would.
    node.insert("description".to_owned(), whole.into());
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Side, portable};
    use super::*;

    /// A type whose variants have a tag, as an `enum` that contains it is served.
    pub(in super::super) fn action() -> Value {
        json!({"oneOf": [
            {
                "description": "Adds one.", "type": "object", "required": ["action", "title"],
                "properties": {"action": {"type": "string", "enum": ["add"]}, "title": {"type": ["string", "null"]},
                               "note": {"type": ["string", "null"]}},
            },
            {
                "type": "object", "required": ["action", "id"],
                "properties": {"action": {"type": "string", "const": "remove"}, "id": {"type": "integer"},
                               "note": {"type": "integer"}},
            },
            {"type": "object", "required": ["action"], "properties": {"action": {"type": "string", "enum": ["list"]}}},
        ]})
    }

    #[test]
    fn a_tagged_choice_at_the_root_is_one_object() {
        let mut contract = json!({"type": "object", "description": "Acts."});
        contract["oneOf"] = action()["oneOf"].clone();
        let served = portable(&contract, Side::Inputs);
        assert_eq!(
            served,
            json!({
                "type": "object",
                "description": "Acts.\n\nOne of:\n- `action`: \"add\", `title`; optional: `note` (Adds one.)\n\
                                - `action`: \"remove\", `id`; optional: `note`\n- `action`: \"list\"",
                "properties": {
                    "action": {"type": "string", "enum": ["add", "remove", "list"]},
                    "title": {"type": ["string", "null"]},
                    "note": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                    "id": {"type": "integer"},
                },
                "required": ["action"],
            })
        );
        // Clients validate outputs.
        assert_eq!(portable(&contract, Side::Outputs), contract);
    }

    #[test]
    fn a_flattened_choice_is_one_object() {
        let contract = json!({
            "type": "object",
            "properties": {"caption": {"type": "string"}},
            "required": ["caption"],
            "unevaluatedProperties": false,
            "anyOf": [{"$ref": "#/$defs/Text"}, {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
                      {"type": "string"}],
            "$defs": {"Text": {"type": "object", "properties": {"content": {"type": "string"}}, "required": ["content"]}},
        });
        assert_eq!(
            portable(&contract, Side::Inputs),
            json!({
                "type": "object",
                "properties": {"caption": {"type": "string"}, "content": {"type": "string"}, "url": {"type": "string"}},
                "required": ["caption"],
                "description": "One of:\n- `content`\n- `url`",
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn all_parts_of_a_root_are_one_object() {
        let contract = json!({
            "type": "object",
            "properties": {"phone": {"type": "string"}, "email": {"type": "string"}},
            "additionalProperties": false,
            "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}, {"required": ["email"]}],
        });
        assert_eq!(
            portable(&contract, Side::Inputs),
            json!({
                "type": "object",
                "properties": {"phone": {"type": "string"}, "email": {"type": "string"}},
                "additionalProperties": false,
                "description": "One of:\n- `phone`\n- `email`",
                "required": ["email"],
            })
        );
    }

    #[test]
    fn a_choice_of_types_that_contain_themselves_is_one_object() {
        let contract = json!({
            "type": "object",
            "oneOf": [{"$ref": "#/$defs/Leaf"}, {"$ref": "#/$defs/Branch"}],
            "$defs": {
                "Leaf": {"type": "object", "properties": {"leaf": {"type": "string"}}, "required": ["leaf"], "additionalProperties": false},
                "Branch": {
                    "type": "object", "properties": {"left": {"$ref": "#/$defs/Branch"}}, "additionalProperties": false,
                },
            },
        });
        let served = portable(&contract, Side::Inputs);
        assert_eq!(
            served["properties"],
            json!({"leaf": {"type": "string"}, "left": {"$ref": "#/$defs/Branch"}})
        );
        assert_eq!(served["additionalProperties"], false);
        assert!(
            served["oneOf"].is_null() && served["$defs"]["Branch"].is_object(),
            "{served}"
        );
    }
}
