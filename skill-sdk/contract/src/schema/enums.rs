//! Enums without data.
//!
//! As soon as a variant has a doc comment, schemars writes the enum as `oneOf` of one `const` each. Models,
//! forms and generators understand a plain `enum` much better, so the variants go back into one list and their
//! docs become lines of the description.

use serde_json::{Value, json};

use super::docs::joined;
use crate::walk::{Node, text};

/// Folds the alternatives of `node` that are fixed strings into one `enum`.
pub(super) fn fold(node: &mut Node) {
    for keyword in ["oneOf", "anyOf"] {
        let Some(Value::Array(branches)) = node.get(keyword) else {
            continue;
        };
        let fixed = branches.iter().filter(|branch| words(branch).is_some()).count();
        let is_all =
            fixed > 0 && fixed == branches.len() && !node.contains_key("type") && !node.contains_key("enum");
        if !is_all && fixed < 2 {
            continue;
        }
        let (fixed, others): (Vec<Value>, Vec<Value>) = branches
            .iter()
            .cloned()
            .partition(|branch| words(branch).is_some());
        let mut folded = merge(&fixed);
        if is_all {
            let description = joined(text(node, "description"), text(&folded, "description"));
            if !description.is_empty() {
                folded.insert("description".to_owned(), description.into());
            }
            node.shift_remove(keyword);
            node.extend(folded);
        } else {
            let branches = std::iter::once(folded.into()).chain(others);
            node.insert(keyword.to_owned(), branches.collect());
        }
    }
}

/// The values of a schema that is only a list of strings.
fn words(schema: &Value) -> Option<&Vec<Value>> {
    let node = schema.as_object()?;
    let is_plain = node.keys().all(|key| {
        matches!(
            key.as_str(),
            "type" | "enum" | "title" | "description" | "deprecated"
        )
    });
    let is_text = node.get("type").is_some_and(|one| one == "string");
    node.get("enum")?.as_array().filter(|_| is_plain && is_text)
}

/// Several lists of values as one, the docs as lines of the description.
fn merge(branches: &[Value]) -> Node {
    let mut values: Vec<&Value> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for branch in branches {
        let own = words(branch).map(Vec::as_slice).unwrap_or_default();
        lines.extend(line(branch, own));
        for value in own {
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    let mut node = Node::new();
    if !lines.is_empty() {
        node.insert("description".to_owned(), lines.join("\n").into());
    }
    node.insert("type".to_owned(), "string".into());
    node.insert("enum".to_owned(), json!(values));
    node
}

/// What the description says about one alternative.
fn line(branch: &Value, values: &[Value]) -> Option<String> {
    let text = |key: &str| branch.get(key).and_then(Value::as_str).unwrap_or_default();
    let docs = joined(text("title"), text("description"));
    let deprecated = branch.get("deprecated") == Some(&Value::Bool(true));
    let [value] = values else {
        return (!docs.is_empty()).then_some(docs);
    };
    let value = value.as_str().unwrap_or_default();
    // The docs of a variant stay one item of the list.
    let docs = docs.replace("\n\n", "\n").replace('\n', "\n  ");
    match (docs.is_empty(), deprecated) {
        (true, false) => None,
        (true, true) => Some(format!("- `{value}`: deprecated")),
        (false, false) => Some(format!("- `{value}`: {docs}")),
        (false, true) => Some(format!("- `{value}` (deprecated): {docs}")),
    }
}
