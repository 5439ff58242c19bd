//! Enums without data.
//!
//! As soon as a variant has a doc comment, schemars writes the enum as `oneOf` of one `const` each. Models,
//! forms and generators understand a plain `enum` much better, so the variants go back into one list and their
//! docs become lines of the description.

use serde_json::Value;

use super::docs::joined;
use crate::walk::{Node, text};

/// Folds the alternatives of `node` that are fixed strings (or fixed integers) into one `enum`.
pub(super) fn fold(node: &mut Node) {
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(branches)) = node.get(keyword) {
            let all = branches.len();
            for kind in ["string", "integer"] {
                let found = branches
                    .iter()
                    .filter(|branch| literal(branch, kind).is_some())
                    .count();
                if found > 0 && found == all && !node.contains_key("type") && !node.contains_key("enum") {
                    fold_all(node, keyword, kind);
                    return;
                }
                if found > 1 {
                    fold_some(node, keyword, kind);
                    break;
                }
            }
        }
    }
}

/// The values of a schema that is only a list of values of the type `kind`.
fn literal<'a>(schema: &'a Value, kind: &str) -> Option<&'a Vec<Value>> {
    let node = schema.as_object()?;
    let plain = node.keys().all(|key| {
        matches!(
            key.as_str(),
            "type" | "enum" | "title" | "description" | "deprecated"
        )
    });
    let typed = node.get("type").is_some_and(|one| one == kind);
    node.get("enum")?.as_array().filter(|_| plain && typed)
}

fn fold_all(node: &mut Node, keyword: &str, kind: &str) {
    let Some(Value::Array(branches)) = node.shift_remove(keyword) else {
        return;
    };
    let mut folded = merge(&branches, kind);
    let docs = folded.shift_remove("description");
    let docs = docs.as_ref().and_then(Value::as_str).unwrap_or_default();
    let description = joined(text(node, "description"), docs);
    if !description.is_empty() {
        node.insert("description".to_owned(), description.into());
    }
    node.extend(folded);
}

fn fold_some(node: &mut Node, keyword: &str, kind: &str) {
    let Some(Value::Array(branches)) = node.get_mut(keyword) else {
        return;
    };
    let (fixed, other): (Vec<Value>, Vec<Value>) = std::mem::take(branches)
        .into_iter()
        .partition(|branch| literal(branch, kind).is_some());
    branches.push(Value::Object(merge(&fixed, kind)));
    branches.extend(other);
}

/// Several lists of values as one, the docs as lines of the description.
fn merge(branches: &[Value], kind: &str) -> Node {
    let mut values: Vec<Value> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for branch in branches {
        let Some(own) = literal(branch, kind) else {
            continue;
        };
        lines.extend(line(branch, own));
        for value in own {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
    }
    let mut node = Node::new();
    if !lines.is_empty() {
        node.insert("description".to_owned(), lines.join("\n").into());
    }
    node.insert("type".to_owned(), kind.into());
    node.insert("enum".to_owned(), Value::Array(values));
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
    let value = value
        .as_str()
        .map_or_else(|| value.to_string(), ToOwned::to_owned);
    // The docs of a variant stay one item of the list.
    let docs = docs.replace("\n\n", "\n").replace('\n', "\n  ");
    match (docs.is_empty(), deprecated) {
        (true, false) => None,
        (true, true) => Some(format!("- `{value}`: deprecated")),
        (false, false) => Some(format!("- `{value}`: {docs}")),
        (false, true) => Some(format!("- `{value}` (deprecated): {docs}")),
    }
}
