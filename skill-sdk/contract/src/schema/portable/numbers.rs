//! Numbers that every reader takes.
//!
//! A client in JavaScript writes an integer of more than 53 bits as another one, and an API whose integers have 64 bits rejects
//! the whole request for one number beyond them.

use serde_json::{Number, Value};

use crate::walk::{Node, has_type};

/// 2^63: the first integer that does not fit into 64 bits. The largest that does becomes this one as a double.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

const BOUNDS: [&str; 4] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];

/// Leaves out what says no more than that an integer has 64 bits, and writes the other bounds of integers as integers.
pub(super) fn within_64_bits(node: &mut Node) {
    if has_type(node, "integer") {
        for bound in BOUNDS {
            node.retain(|keyword, value| keyword != bound || !is_beyond_64_bits(value));
        }
        for keyword in BOUNDS.iter().chain(&["multipleOf"]) {
            if let Some(Value::Number(number)) = node.get_mut(*keyword)
                && let Some(integer) = integer(number)
            {
                *number = integer.into();
            }
        }
    }
    // They are advice: the call is valid without them.
    node.retain(|keyword, value| {
        !matches!(keyword.as_str(), "default" | "examples") || !is_beyond_64_bits(value)
    });
}

/// Whether the value is or holds an integer that does not fit into 64 bits, or does not once it was a double.
fn is_beyond_64_bits(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() >= TWO_63),
        Value::Array(items) => items.iter().any(is_beyond_64_bits),
        Value::Object(members) => members.values().any(is_beyond_64_bits),
        _ => false,
    }
}

/// The integer that is written as a float.
fn integer(number: &Number) -> Option<i64> {
    let float = number
        .as_f64()
        .filter(|float| number.is_f64() && float.fract() == 0.0)?;
    format!("{float:.0}").parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Side, portable};

    #[test]
    fn bounds_that_only_say_how_wide_an_integer_is_are_left_out() {
        let two_63 = 9_223_372_036_854_775_808_u64;
        let table = [
            (
                json!({"type": "integer", "minimum": i64::MIN, "maximum": two_63}),
                json!({"type": "integer"}),
            ),
            (
                json!({"type": ["integer", "null"], "minimum": 0, "maximum": 18_446_744_073_709_551_616.0}),
                json!({"type": ["integer", "null"], "minimum": 0}),
            ),
            (
                json!({"type": "integer", "minimum": -1.701_411_834_604_692_3e38, "maximum": 1e15, "multipleOf": 2.0}),
                json!({"type": "integer", "maximum": 1_000_000_000_000_000_i64, "multipleOf": 2}),
            ),
            (
                json!({"type": "integer", "minimum": 0, "maximum": 255, "default": u64::MAX, "examples": [1, i64::MIN]}),
                json!({"type": "integer", "minimum": 0, "maximum": 255}),
            ),
            (
                json!({"type": "number", "minimum": 0.5, "maximum": 1e300, "default": 1.0}),
                json!({"type": "number", "minimum": 0.5, "maximum": 1e300, "default": 1.0}),
            ),
        ];
        for (contract, expected) in table {
            for side in [Side::Inputs, Side::Outputs] {
                let contract = json!({"type": "object", "properties": {"a": contract}, "required": ["a"]});
                let served = portable(&contract, side);
                assert_eq!(served["properties"]["a"].to_string(), expected.to_string());
            }
        }
    }
}
