//! Differences for people: a unified diff of two canonical texts.

use serde_json::Value;
use similar::TextDiff;

use super::yaml::emit;

/// Documents with more lines than this are not compared line by line: the time would grow with the
/// product of their sizes. A contract of the largest size that is published has fewer.
const MOST_LINES: usize = 10_000;

/// A unified diff, three lines around each change, that turns the file's document into the code's.
///
/// Both are written in the canonical layout first, so comments, quoting and line breaks of the file
/// do not show; and the file's fields are put in the code's order. `path` names the file in the two
/// lines at the top. Empty when there is nothing to show, or when a document is too long.
pub(super) fn unified_diff(path: &str, file: &Value, code: &Value) -> String {
    let old = emit(&in_order_of(file, code));
    let new = emit(code);
    if old.lines().count().max(new.lines().count()) > MOST_LINES {
        return String::new();
    }
    TextDiff::from_lines(&old, &new)
        .unified_diff()
        .context_radius(3)
        .header(&format!("{path} (file)"), &format!("{path} (code)"))
        .to_string()
}

/// `value` with the fields that `model` has in the order of `model`, then its other fields.
fn in_order_of(value: &Value, model: &Value) -> Value {
    match (value, model) {
        (Value::Object(value), Value::Object(model)) => {
            let known = model
                .iter()
                .filter_map(|(name, model)| Some((name, in_order_of(value.get(name)?, model))));
            let others = value
                .iter()
                .filter(|(name, _)| !model.contains_key(*name))
                .map(|(name, value)| (name, value.clone()));
            Value::Object(known.chain(others).map(|(name, v)| (name.clone(), v)).collect())
        }
        (Value::Array(value), Value::Array(model)) => value
            .iter()
            .enumerate()
            .map(|(index, value)| match model.get(index) {
                Some(model) => in_order_of(value, model),
                None => value.clone(),
            })
            .collect(),
        _ => value.clone(),
    }
}
