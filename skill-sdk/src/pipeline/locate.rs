//! Where in a JSON text parsing failed.
//!
//! A type's `Deserialize` knows lines and columns only. Walking the text up to there gives the path, without any code
//! that each type would pay for.

/// The path of the failure: `/` and its parts joined by `/`.
pub(super) fn path(json: &[u8], error: &serde_json::Error) -> String {
    let text = error.to_string();
    // serde reports these of the object or list as a whole; all else, of the member or item that was read last.
    let whole = text.starts_with("missing field") || text.starts_with("invalid length");
    let parts = walk(json, offset(json, error.line(), error.column()), whole);
    if parts.is_empty() {
        "/".to_owned()
    } else {
        parts.iter().map(|part| format!("/{part}")).collect()
    }
}

/// What is wrong, without the line and column that mean nothing to a caller.
pub(super) fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
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

/// What is open at a place of the text.
enum Open {
    /// An object, with the member that is being read.
    Object(Option<String>),
    /// An array, with the index of the item that is being read, once one began.
    Array(usize, bool),
}

/// The parts of the path of the value that ends at or holds `end`. Where an object or a list ends there, it is meant when
/// `whole`, else the last value in it.
fn walk(json: &[u8], end: usize, whole: bool) -> Vec<String> {
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while at < end {
        match json[at] {
            b'{' => {
                begin_item(&mut open);
                open.push(Open::Object(None));
            }
            b'[' => {
                begin_item(&mut open);
                open.push(Open::Array(0, false));
            }
            b'}' | b']' => {
                if at + 1 == end && !whole {
                    return parts(&open);
                }
                open.pop();
            }
            b',' => match open.last_mut() {
                Some(Open::Object(member)) => *member = None,
                Some(Open::Array(index, began)) => (*index, *began) = (*index + 1, false),
                None => {}
            },
            b'"' => {
                let close = string_end(json, at);
                if let Some(Open::Object(member @ None)) = open.last_mut() {
                    *member = serde_json::from_slice(&json[at..close]).ok();
                } else {
                    begin_item(&mut open);
                }
                at = close;
                continue;
            }
            b' ' | b'\t' | b'\n' | b'\r' | b':' => {}
            _ => begin_item(&mut open),
        }
        at += 1;
    }
    parts(&open)
}

fn begin_item(open: &mut [Open]) {
    if let Some(Open::Array(_, began)) = open.last_mut() {
        *began = true;
    }
}

/// The offset behind the string that begins at `at`.
fn string_end(json: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while end < json.len() {
        match json[end] {
            b'\\' => end += 2,
            b'"' => return end + 1,
            _ => end += 1,
        }
    }
    json.len()
}

fn parts(open: &[Open]) -> Vec<String> {
    open.iter()
        .filter_map(|open| match open {
            Open::Object(member) => member.clone(),
            Open::Array(index, began) => began.then(|| index.to_string()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

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
            (r#"{"a": {"x": 1, "x": 2}}"#, "/a/x"),
            ("[]", "/"),
        ];
        for (json, expected) in table {
            let error = serde_json::from_str::<BTreeMap<String, Point>>(json).unwrap_err();
            assert_eq!(path(json.as_bytes(), &error), expected, "{json}: {error}");
        }
    }

    #[test]
    fn messages_hold_no_columns() {
        let error = serde_json::from_str::<u8>("-1").unwrap_err();
        assert_eq!(message(&error), "invalid value: integer `-1`, expected u8");
    }
}
