//! The differences in meaning between a file's document and the code's.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Number, Value};

use crate::rules::short;

/// One place where a file and the code say different things.
///
/// Displayed as `spec.contract.timeoutSeconds: file 30, code 60`, with long values shortened; the
/// fields hold the whole values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The place: member names joined by dots, list entries as `[3]`, names that are no plain word
    /// as `["a.b"]`. Empty for the document itself.
    pub path: String,
    /// What the file has there; none when it has nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<Value>,
    /// What the code has there; none when it has nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "the document"
        } else {
            &self.path
        };
        match (&self.file, &self.code) {
            (Some(file), Some(code)) => {
                write!(f, "{path}: file {}, code {}", shown(file), shown(code))
            }
            (None, Some(code)) => write!(f, "{path}: missing in the file, code {}", shown(code)),
            (Some(file), None) => write!(f, "{path}: file {}, not in the code", shown(file)),
            (None, None) => f.write_str(path),
        }
    }
}

/// So many differences of two documents are listed, not more: a file may hold millions.
const MOST_DIFFERENCES: usize = 200;

/// Compares two documents by meaning, `file` against `code`; at most the first 200 differences.
///
/// The order of members does not matter, the order of list entries does. Numbers are equal as JSON
/// numbers (`1` and `1.0`), a number and a string never are. When one list has more entries, what the
/// lists have in common at both ends is left out.
pub(super) fn compare(file: &Value, code: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare_at(&mut String::new(), file, code, &mut found);
    found
}

fn compare_at(path: &mut String, file: &Value, code: &Value, found: &mut Vec<Difference>) {
    if found.len() >= MOST_DIFFERENCES {
        return;
    }
    match (file, code) {
        (Value::Object(file), Value::Object(code)) => compare_members(path, file, code, found),
        (Value::Array(file), Value::Array(code)) => compare_entries(path, file, code, found),
        _ if same(file, code) => {}
        _ => push(found, path, Some(file), Some(code)),
    }
}

/// In the code's order, then what only the file has.
fn compare_members(
    path: &mut String,
    file: &Map<String, Value>,
    code: &Map<String, Value>,
    found: &mut Vec<Difference>,
) {
    for (name, code) in code {
        within(path, &member(path, name), |path| match file.get(name) {
            Some(file) => compare_at(path, file, code, found),
            None => push(found, path, None, Some(code)),
        });
    }
    for (name, file) in file {
        if !code.contains_key(name) {
            within(path, &member(path, name), |path| {
                push(found, path, Some(file), None);
            });
        }
    }
}

fn compare_entries(path: &mut String, file: &[Value], code: &[Value], found: &mut Vec<Difference>) {
    let (mut start, mut end) = (0, 0);
    if file.len() != code.len() {
        start = file.iter().zip(code).take_while(|(a, b)| same(a, b)).count();
        let rest = file[start..].iter().rev().zip(code[start..].iter().rev());
        end = rest.take_while(|(a, b)| same(a, b)).count();
    }
    let file = &file[start..file.len() - end];
    let code = &code[start..code.len() - end];
    for index in 0..file.len().max(code.len()) {
        let entry = format!("[{}]", start + index);
        within(path, &entry, |path| match (file.get(index), code.get(index)) {
            (Some(file), Some(code)) => compare_at(path, file, code, found),
            (file, code) => push(found, path, file, code),
        });
    }
}

fn push(found: &mut Vec<Difference>, path: &str, file: Option<&Value>, code: Option<&Value>) {
    if found.len() < MOST_DIFFERENCES {
        found.push(Difference {
            path: path.to_owned(),
            file: file.cloned(),
            code: code.cloned(),
        });
    }
}

/// Runs `inner` with `step` appended to the path.
fn within(path: &mut String, step: &str, inner: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push_str(step);
    inner(path);
    path.truncate(length);
}

/// How a member's name is appended to `path`.
fn member(path: &str, name: &str) -> String {
    let is_word = name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'));
    match (is_word, path.is_empty()) {
        (true, true) => name.to_owned(),
        (true, false) => format!(".{name}"),
        (false, _) => format!("[{}]", Value::from(name)),
    }
}

/// Equality of JSON values with numbers as numbers.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn same_number(a: &Number, b: &Number) -> bool {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.as_f64() == b.as_f64(),
        _ => false,
    }
}

/// The number as an integer, if it is one that 128 bits hold.
fn integer(number: &Number) -> Option<i128> {
    if let Some(integer) = number.as_i128() {
        return Some(integer);
    }
    let float = number.as_f64()?;
    // Below 2^127 a float without a fraction is exactly an integer of 128 bits.
    let fits = float.fract() == 0.0 && float.abs() < 2f64.powi(127);
    #[expect(clippy::cast_possible_truncation, reason = "checked on the line above")]
    fits.then_some(float as i128)
}

/// A value as JSON on one line, shortened.
fn shown(value: &Value) -> String {
    short(&value.to_string())
}
