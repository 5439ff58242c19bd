//! Formats and the bounds of integers.
//!
//! schemars writes the width of a number as a format of its own (`uint32`, `int64`, `double`) that validators warn about or
//! reject. Here the width becomes `minimum` and `maximum`, which every validator checks: exactly the bounds of the type, as
//! integers. A bound that does not fit 64 bits is left out, since many readers cannot hold it.
//! `isize` and `usize` are 64 bits wide on every platform here, so that a contract does not depend on it.

use serde_json::{Value, json};

use crate::walk::{Node, has_type, text};

/// The formats that JSON Schema 2020-12 defines (section 7.3 of its validation vocabulary).
const STANDARD: &str = "date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri \
                        iri-reference uuid uri-template json-pointer relative-json-pointer regex";

/// Writes the width of an integer as bounds and drops a format that JSON Schema 2020-12 does not define.
pub(super) fn portable(node: &mut Node) {
    let format = text(node, "format").to_owned();
    if has_type(node, "integer")
        && let Some((minimum, maximum)) = bounds(&format)
    {
        tighten(node, "minimum", "exclusiveMinimum", minimum, 1.0);
        tighten(node, "maximum", "exclusiveMaximum", maximum, -1.0);
    }
    if !STANDARD.split(' ').any(|standard| standard == format) {
        node.shift_remove("format");
        // schemars uses this format for two standard ones.
        if format == "ip" && !node.contains_key("anyOf") {
            node.insert(
                "anyOf".to_owned(),
                json!([{"format": "ipv4"}, {"format": "ipv6"}]),
            );
        }
    }
}

/// Writes the bound of the type, unless the author's own bound is at least as tight. `sign` is negative for upper bounds.
fn tighten(node: &mut Node, keyword: &str, exclusive: &str, width: Value, sign: f64) {
    let Some(of_type) = width.as_f64() else { return };
    let is_tight = |keyword: &&str| {
        let author = node.get(*keyword).and_then(Value::as_f64);
        author.is_some_and(|author| author * sign >= of_type * sign)
    };
    if ![keyword, exclusive].iter().any(is_tight) {
        node.insert(keyword.to_owned(), width);
    }
}

/// The bounds of the integer type that schemars names by `format`; null for a bound that is left out.
fn bounds(format: &str) -> Option<(Value, Value)> {
    Some(match format {
        "int8" => (json!(i8::MIN), json!(i8::MAX)),
        "int16" => (json!(i16::MIN), json!(i16::MAX)),
        "int32" => (json!(i32::MIN), json!(i32::MAX)),
        "int64" | "int" => (json!(i64::MIN), json!(i64::MAX)),
        "uint8" => (json!(0), json!(u8::MAX)),
        "uint16" => (json!(0), json!(u16::MAX)),
        "uint32" => (json!(0), json!(u32::MAX)),
        "uint64" | "uint" => (json!(0), json!(u64::MAX)),
        "uint128" => (json!(0), Value::Null),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
                json!({"maximum": i64::MAX, "minimum": i64::MIN}),
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
}
