//! The path at which parsing a JSON text failed.
//!
//! A type's `Deserialize` reports a line and a column. Descending to the value at that position gives the path, without
//! generated code for each type.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::relax;

/// Errors that serde reports for an object or array as a whole. All others concern the field or item that was read last.
const OF_THE_WHOLE: [&str; 4] = [
    "missing field",
    "invalid length",
    "unknown field",
    "duplicate field",
];

/// The path of the failure: `/` and its parts joined by `/`.
pub(super) fn path(json: &str, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let is_of_the_whole = OF_THE_WHOLE.iter().any(|start| text.starts_with(start));
    let end = offset(json.as_bytes(), error.line(), error.column());
    let start_of = |part: &RawValue| part.get().as_ptr().addr() - json.as_ptr().addr();
    // The value that contains the position where reading stopped, else the one that began before it or would begin there.
    let is_meant = |(_, part): &(String, &RawValue)| {
        let start = start_of(part);
        start <= end && (!is_of_the_whole || end <= start + part.get().len())
    };
    let mut path = String::new();
    let mut inner = json.trim_ascii_start();
    let mut left = relax::budget(json);
    while let Some((name, part)) = parts(inner, &mut left)
        .into_iter()
        .filter(is_meant)
        .max_by_key(|(_, part)| start_of(part))
    {
        path = format!("{path}/{name}");
        inner = part.get();
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

/// The fields or items of a value; empty when too many bytes were read already.
fn parts<'a>(json: &'a str, left: &mut usize) -> Vec<(String, &'a RawValue)> {
    let Some(rest) = left.checked_sub(json.len()) else {
        return Vec::new();
    };
    *left = rest;
    if json.starts_with('{') {
        let members: BTreeMap<String, &RawValue> = serde_json::from_str(json).unwrap_or_default();
        return members.into_iter().collect();
    }
    let items: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
    let items = items.into_iter().enumerate();
    items.map(|(index, item)| (index.to_string(), item)).collect()
}

/// The message without the line and column and without names of Rust types, which mean nothing to a caller.
pub(super) fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    let Some((found, wanted)) = text.rsplit_once(", expected ") else {
        return text.to_owned();
    };
    let wanted = match wanted {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => {
            "an integer in the range of the field"
        }
        "f32" | "f64" => "a number",
        other => other,
    };
    format!("{found}, expected {wanted}")
}

/// The offset of a line and column as `serde_json` counts them: the column is that of the last byte that was read.
fn offset(json: &[u8], line: usize, column: usize) -> usize {
    let start = match line {
        0 | 1 => 0,
        _ => json
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .nth(line - 2)
            .map_or(0, |(at, _)| at + 1),
    };
    (start + column).min(json.len())
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only parsed")]
    struct Point {
        x: u8,
        y: Option<Vec<u8>>,
        #[serde(default, deserialize_with = "even")]
        even: u8,
    }

    fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
        let number = u8::deserialize(deserializer)?;
        if number % 2 == 0 {
            Ok(number)
        } else {
            Err(serde::de::Error::custom("must be even"))
        }
    }

    #[test]
    fn the_path_of_a_failure() {
        let table = [
            (r#"{"a": {"x": "s"}}"#, "/a/x"),
            (r#"{"a": {"x": 300}}"#, "/a/x"),
            (r#"{"b": {"x": 1}, "a": {"y": []}}"#, "/a"),
            (r#"{"a": {"x": 1, "y": [1, 2, "z"]}}"#, "/a/y/2"),
            ("{\"a\":\n {\"x\": 1,\n \"y\": [1,\n -2]}}", "/a/y/1"),
            (r#"{"a": {"x": 1, "even": 3}}"#, "/a/even"),
            (r#"{"a": {"x": 1, "even": 3 } }"#, "/a/even"),
            (r#"{"a\"b/c": {"x": null}}"#, "/a\"b/c/x"),
            (r#"{"a": [1, 2]}"#, "/a/1"),
            (r#"{"a": {"y": {}}}"#, "/a/y"),
            (r#"{"a": {"x": 1, "x": 2}}"#, "/a"),
            ("[]", "/"),
        ];
        for (json, expected) in table {
            let error = serde_json::from_str::<BTreeMap<String, Point>>(json).unwrap_err();
            assert_eq!(path(json, &error), expected, "{json}: {error}");
        }
    }

    #[test]
    fn messages_hold_no_columns() {
        let error = serde_json::from_str::<u8>("-1").unwrap_err();
        assert_eq!(
            message(&error),
            "invalid value: integer `-1`, expected an integer in the range of the field"
        );
    }
}
