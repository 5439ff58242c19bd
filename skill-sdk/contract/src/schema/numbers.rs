//! Formats and the bounds of integers.
//!
//! schemars tells the width of a number by a format of its own (`uint32`, `int64`, `double`) that validators
//! warn about or refuse. The width is written as `minimum` and `maximum` instead, which everybody checks.
//!
//! A reader that holds numbers as doubles (JavaScript, and much else) cannot tell `18446744073709551615`
//! from `18446744073709551616`. To get one verdict from all readers, both must be accepted or both refused;
//! refusing would refuse a value that serde writes. So a bound beyond 2^53 is rounded outward to the next
//! double: the bounds of `u64` are 0 and 2^64, those of `i64` are -2^63 and 2^63. What lies between the real
//! bound and the rounded one passes the schema and is then refused by serde.
//!
//! The same holds for `i128` and `u128`, whose values travel exactly: they are read from and written to JSON text.
//! `isize` and `usize` are 64 bits wide on every platform here, so that a contract does not depend on it.

use serde_json::{Number, Value, json};

use crate::walk::{Node, has_type, text};

/// 2^53: the integers up to here are exact in a double.
const EXACT: u64 = 1 << 53;

/// 2^63, 2^64 and 2^127 as doubles.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;
const TWO_64: f64 = TWO_63 * 2.0;
const TWO_127: f64 = TWO_63 * TWO_64;

/// Writes the width of an integer as bounds and drops a format that JSON Schema 2020-12 does not define.
pub(super) fn portable(node: &mut Node) {
    let format = text(node, "format").to_owned();
    if has_type(node, "integer")
        && let Some((minimum, maximum)) = bounds(&format)
    {
        tighten(node, "minimum", "exclusiveMinimum", minimum, |author, width| {
            author >= width
        });
        tighten(node, "maximum", "exclusiveMaximum", maximum, |author, width| {
            author <= width
        });
    }
    if let Some(Value::Number(bound)) = node.get_mut("minimum") {
        *bound = outward(bound, false);
    }
    if let Some(Value::Number(bound)) = node.get_mut("maximum") {
        *bound = outward(bound, true);
    }
    if !is_standard(&format) {
        node.shift_remove("format");
        // The one format of schemars that stands for two standard ones.
        if format == "ip" && !node.contains_key("anyOf") {
            node.insert(
                "anyOf".to_owned(),
                json!([{"format": "ipv4"}, {"format": "ipv6"}]),
            );
        }
    }
}

/// Writes the bound of the type, unless the author's own is at least as tight: what no value of the type can be is no promise.
fn tighten(
    node: &mut Node,
    keyword: &str,
    exclusive: &str,
    width: Value,
    is_tight: impl Fn(f64, f64) -> bool,
) {
    let bound = |keyword| node.get(keyword).and_then(Value::as_f64);
    let of_type = width.as_f64();
    let is_tight = |author: Option<f64>| {
        author
            .zip(of_type)
            .is_some_and(|(author, width)| is_tight(author, width))
    };
    if !is_tight(bound(keyword)) && !is_tight(bound(exclusive)) {
        node.insert(keyword.to_owned(), width);
    }
}

/// The formats that JSON Schema 2020-12 defines (section 7.3 of its validation vocabulary).
fn is_standard(format: &str) -> bool {
    matches!(
        format,
        "date-time"
            | "date"
            | "time"
            | "duration"
            | "email"
            | "idn-email"
            | "hostname"
            | "idn-hostname"
            | "ipv4"
            | "ipv6"
            | "uri"
            | "uri-reference"
            | "iri"
            | "iri-reference"
            | "uuid"
            | "uri-template"
            | "json-pointer"
            | "relative-json-pointer"
            | "regex"
    )
}

/// The bounds of the integer type that schemars names by `format`.
fn bounds(format: &str) -> Option<(Value, Value)> {
    let two_63 = 1_u64 << 63;
    Some(match format {
        "int8" => (json!(i8::MIN), json!(i8::MAX)),
        "int16" => (json!(i16::MIN), json!(i16::MAX)),
        "int32" => (json!(i32::MIN), json!(i32::MAX)),
        "int64" | "int" => (json!(i64::MIN), json!(two_63)),
        "int128" => (json!(-TWO_127), json!(TWO_127)),
        "uint8" => (json!(0), json!(u8::MAX)),
        "uint16" => (json!(0), json!(u16::MAX)),
        "uint32" => (json!(0), json!(u32::MAX)),
        "uint64" | "uint" => (json!(0), json!(TWO_64)),
        "uint128" => (json!(0), json!(TWO_127 * 2.0)),
        _ => return None,
    })
}

/// `bound` as the next double that does not exclude it; itself when it is exact.
fn outward(bound: &Number, upward: bool) -> Number {
    let magnitude = match (bound.as_u64(), bound.as_i64()) {
        (Some(positive), _) => positive,
        (None, Some(negative)) => negative.unsigned_abs(),
        // A float is a double already.
        (None, None) => return bound.clone(),
    };
    if magnitude <= EXACT {
        return bound.clone();
    }
    let negative = bound.as_u64().is_none();
    // Away from zero when the bound is on the far side of it, else towards zero.
    let rounded = doubles_around(magnitude, upward != negative);
    let number = match (rounded, negative) {
        (None, _) => Number::from_f64(TWO_64),
        (Some(magnitude), false) => Some(Number::from(magnitude)),
        (Some(magnitude), true) => 0_i64.checked_sub_unsigned(magnitude).map(Number::from),
    };
    number.unwrap_or_else(|| bound.clone())
}

/// The nearest integer that a double holds exactly and that is not below (`larger`) or not above `magnitude`;
/// `None` stands for 2^64.
fn doubles_around(magnitude: u64, larger: bool) -> Option<u64> {
    // A double holds the 53 highest bits.
    let spare = (64 - magnitude.leading_zeros()).saturating_sub(53);
    let step = 1_u64 << spare;
    let below = magnitude & !(step - 1);
    if below == magnitude || !larger {
        Some(below)
    } else {
        below.checked_add(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: Value) -> Number {
        match value {
            Value::Number(number) => number,
            other => panic!("not a number: {other}"),
        }
    }

    #[test]
    fn the_tighter_of_two_bounds_is_written() {
        let table = [
            (
                json!({"format": "uint8", "maximum": 1000}),
                json!({"maximum": 255, "minimum": 0}),
            ),
            (
                json!({"format": "uint8", "maximum": 100, "minimum": 5}),
                json!({"maximum": 100, "minimum": 5}),
            ),
            (
                json!({"format": "uint32", "minimum": -1}),
                json!({"maximum": u32::MAX, "minimum": 0}),
            ),
            (
                json!({"format": "int8", "exclusiveMaximum": 1000, "exclusiveMinimum": -5}),
                json!({"exclusiveMaximum": 1000, "exclusiveMinimum": -5, "maximum": 127}),
            ),
            (
                json!({"format": "int8", "exclusiveMinimum": -1000}),
                json!({"exclusiveMinimum": -1000, "maximum": 127, "minimum": -128}),
            ),
            (
                json!({"format": "int64", "maximum": 1e30}),
                json!({"maximum": 1_u64 << 63, "minimum": i64::MIN}),
            ),
        ];
        for (mut schema, expected) in table {
            schema["type"] = json!("integer");
            let node = schema.as_object_mut().unwrap();
            portable(node);
            node.remove("type");
            assert_eq!(schema, expected);
        }
    }

    #[test]
    fn bounds_are_rounded_outward() {
        let table = [
            (json!(255), true, json!(255)),
            (json!(-7), false, json!(-7)),
            (json!(0.1), true, json!(0.1)),
            (
                json!(9_007_199_254_740_992_u64),
                true,
                json!(9_007_199_254_740_992_u64),
            ),
            (
                json!(9_007_199_254_740_993_u64),
                true,
                json!(9_007_199_254_740_994_u64),
            ),
            (
                json!(9_007_199_254_740_993_u64),
                false,
                json!(9_007_199_254_740_992_u64),
            ),
            (
                json!(-9_007_199_254_740_993_i64),
                false,
                json!(-9_007_199_254_740_994_i64),
            ),
            (
                json!(-9_007_199_254_740_993_i64),
                true,
                json!(-9_007_199_254_740_992_i64),
            ),
            (json!(i64::MIN), false, json!(i64::MIN)),
            (json!(i64::MAX), true, json!(1_u64 << 63)),
            (json!(u64::MAX), true, json!(TWO_64)),
        ];
        for (bound, upward, expected) in table {
            let rounded = outward(&number(bound.clone()), upward);
            assert_eq!(rounded.to_string(), expected.to_string(), "{bound} {upward}");
        }
    }
}
