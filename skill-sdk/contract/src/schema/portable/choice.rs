//! A choice at the root as one object: it has the properties of all branches, and its description says which of them go
//! together. Calls are validated against the contract, so the choice itself is not lost.

use serde_json::{Value, json};

use super::super::docs::joined;
use super::super::inline_refs::merge;
use super::super::refs::{Defs, target};
use crate::walk::{Node, has_type, text};

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
                take(node, &[branch]);
            }
        } else if !branches.is_empty() {
            let rules: Vec<String> = branches.iter().map(rule).collect();
            describe(node, &format!("One of:\n{}", rules.join("\n")));
            take(node, &branches);
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

/// Takes over the content of the branches: every property, and the names that all of them require.
fn take(node: &mut Node, branches: &[Node]) {
    let is_false = |rule: Option<&Value>| rule.is_some_and(|rule| *rule == false);
    let has_own = properties(node).next().is_some();
    let all_closed = branches
        .iter()
        .all(|branch| is_false(branch.get("additionalProperties")));
    if is_false(node.shift_remove("unevaluatedProperties").as_ref()) || (!has_own && all_closed) {
        node.insert("additionalProperties".to_owned(), false.into());
    }
    let mut names: Vec<Value> = required(node).cloned().collect();
    for name in branches.first().into_iter().flat_map(required) {
        let in_all = branches
            .iter()
            .all(|branch| required(branch).any(|other| other == name));
        if in_all && !names.contains(name) {
            names.push(name.clone());
        }
    }
    if let [only] = branches
        && only.contains_key("description")
    {
        describe(node, text(only, "description"));
    }
    let mut taken = Node::new();
    for (name, property) in branches.iter().flat_map(properties) {
        let property = match taken.get(name) {
            Some(known) => either(known.clone(), property.clone()),
            None => property.clone(),
        };
        taken.insert(name.clone(), property);
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

fn properties(node: &Node) -> impl Iterator<Item = (&String, &Value)> {
    node.get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
}

fn required(node: &Node) -> impl Iterator<Item = &Value> {
    node.get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// The values that a schema is restricted to by `const` or `enum`; empty when it is not.
fn literals(schema: &Value) -> &[Value] {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => std::slice::from_ref(value),
        (None, Some(Value::Array(values))) => values,
        _ => &[],
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
    let needed = required(branch).filter_map(Value::as_str).map(|name| {
        let property = properties(branch).find(|(other, _)| *other == name);
        match property.map_or(&[][..], |(_, property)| literals(property)) {
            [fixed] => format!("`{name}`: {fixed}"),
            _ => format!("`{name}`"),
        }
    });
    let needed = needed.collect::<Vec<_>>().join(", ");
    let optional = properties(branch).filter(|(name, _)| !required(branch).any(|needed| needed == *name));
    let optional: Vec<_> = optional.map(|(name, _)| format!("`{name}`")).collect();
    let mut rule = match (needed.as_str(), optional.join(", ").as_str()) {
        ("", "") => "nothing".to_owned(),
        (needed, "") => needed.to_owned(),
        ("", optional) => format!("optional: {optional}"),
        (needed, optional) => format!("{needed}; optional: {optional}"),
    };
    let description = text(branch, "description");
    if !description.is_empty() {
        rule += &format!(" ({description})");
    }
    format!("- {}", rule.replace('\n', "\n  "))
}

/// Adds a paragraph to the description.
fn describe(node: &mut Node, paragraph: &str) {
    let whole = joined(text(node, "description"), paragraph);
    node.insert("description".to_owned(), whole.into());
}

#[cfg(test)]
mod tests {
    use super::super::tests::action;
    use super::super::{Side, portable};
    use super::*;

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
