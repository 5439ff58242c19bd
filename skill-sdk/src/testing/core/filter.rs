//! Conditions on attributes, as the platform evaluates them.

use serde_json::{Map, Value};

use crate::platform::core::knowledge::Filter;
use crate::platform::dates;

/// Whether attributes satisfy all conditions. Fails if a condition is invalid.
pub(super) fn matches(attributes: &Map<String, Value>, conditions: &[Filter]) -> Result<bool, String> {
    // Every condition is evaluated, so that each invalid one is found.
    conditions
        .iter()
        .try_fold(true, |all, condition| Ok(all & satisfied(attributes, condition)?))
}

fn satisfied(attributes: &Map<String, Value>, condition: &Filter) -> Result<bool, String> {
    let Filter {
        attr: name,
        op,
        value,
    } = condition;
    let items = attributes.get(name).map_or(&[][..], items);
    let any = |test: &dyn Fn(&Value) -> bool| items.iter().any(test);
    Ok(match op.as_str() {
        "exists" => {
            let wanted = value.is_null() || *value == Value::Bool(true);
            items.is_empty() != wanted
        }
        "eq" => any(&|item| equal(item, value)),
        "in" => {
            let characters;
            let values = match value {
                Value::Array(values) => values,
                // A string counts as the list of its characters.
                Value::String(text) => {
                    characters = text.chars().map(|c| c.to_string().into()).collect::<Vec<_>>();
                    &characters
                }
                _ => return Err(format!("`in` on `{name}` needs a list")),
            };
            any(&|item| values.iter().any(|value| equal(item, value)))
        }
        "prefix" => {
            let Some(prefix) = value.as_str() else {
                return Err(format!("`prefix` on `{name}` needs a string"));
            };
            any(&|item| {
                let below = item.as_str().and_then(|item| item.strip_prefix(prefix));
                below.is_some_and(|below| below.is_empty() || below.starts_with('.'))
            })
        }
        "lte" => any(&|item| order(item, value).is_some_and(std::cmp::Ordering::is_le)),
        "gte" => any(&|item| order(item, value).is_some_and(std::cmp::Ordering::is_ge)),
        unknown => {
            return Err(format!(
                "unknown operator `{unknown}` on `{name}`; there are eq, in, prefix, lte, gte, exists"
            ));
        }
    })
}

/// The items of a list, or a single value. Null has no items.
fn items(attribute: &Value) -> &[Value] {
    match attribute {
        Value::Null => &[],
        Value::Array(items) => items,
        value => std::slice::from_ref(value),
    }
}

/// Whether two values are equal. Numbers are compared by value.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || (left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64()
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, left)| right.get(name).is_some_and(|right| equal(left, right)))
        }
        (left, right) => left == right,
    }
}

/// The order of two numbers or of two times.
fn order(left: &Value, right: &Value) -> Option<std::cmp::Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64()?.partial_cmp(&right.as_f64()?),
        (Value::String(left), Value::String(right)) => Some(dates::parse(left)?.cmp(&dates::parse(right)?)),
        _ => None,
    }
}
