//! The differences in meaning between a file's document and the code's.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::rules::short;

/// One place where a file and the code say different things.
///
/// Displayed as `spec.contract.timeoutSeconds: file 30, code 60`, with long values shortened; the
/// fields hold the whole values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The place: field names joined by dots, items of arrays as `[3]`, names that are not a plain word
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
/// The order of fields does not matter, the order of list entries does. Numbers are equal as JSON
/// numbers (`1` and `1.0`), a number and a string never are. When one list has more entries, what the
/// lists have in common at both ends is left out.
pub(super) fn compare(file: &Value, code: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare_at("", Some(file), Some(code), &mut found);
    found.truncate(MOST_DIFFERENCES);
    found
}

fn compare_at(path: &str, file: Option<&Value>, code: Option<&Value>, found: &mut Vec<Difference>) {
    match (file, code) {
        _ if found.len() >= MOST_DIFFERENCES => {}
        (Some(file), Some(code)) if same(file, code) => {}
        (Some(Value::Object(file)), Some(Value::Object(code))) => {
            // In the code's order, then what only the file has.
            let others = file.keys().filter(|name| !code.contains_key(*name));
            for name in code.keys().chain(others) {
                compare_at(&member(path, name), file.get(name), code.get(name), found);
            }
        }
        (Some(Value::Array(file)), Some(Value::Array(code))) => {
            let (mut start, mut end) = (0, 0);
            if file.len() != code.len() {
                start = file.iter().zip(code).take_while(|(a, b)| same(a, b)).count();
                let rest = file[start..].iter().rev().zip(code[start..].iter().rev());
                end = rest.take_while(|(a, b)| same(a, b)).count();
            }
            let (file, code) = (&file[..file.len() - end], &code[..code.len() - end]);
            for index in start..file.len().max(code.len()) {
                compare_at(
                    &format!("{path}[{index}]"),
                    file.get(index),
                    code.get(index),
                    found,
                );
            }
        }
        (file, code) => found.push(Difference {
            path: path.to_owned(),
            file: file.cloned(),
            code: code.cloned(),
        }),
    }
}

/// The path of the field `name` of the object at `path`.
fn member(path: &str, name: &str) -> String {
    let is_word = name.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'));
    match (is_word, path.is_empty()) {
        (true, true) => name.to_owned(),
        (true, false) => format!("{path}.{name}"),
        (false, _) => format!("{path}[{}]", Value::from(name)),
    }
}

/// Equality of JSON values with numbers as numbers.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64()
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// A value as JSON on one line, shortened.
fn shown(value: &Value) -> String {
    short(&value.to_string())
}
