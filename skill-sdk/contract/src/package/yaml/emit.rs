//! The canonical layout: a JSON value as YAML text.
//!
//! Block style, two spaces, sequences at the column of their key, keys in the order of the value.
//! The same value gives the same text on every platform, and a YAML 1.1 reader and a YAML 1.2 reader
//! both get exactly the value back. Three choices make that true for every string:
//!
//! - characters that one reader rejects or takes for a line break (control characters, U+0085,
//!   U+2028, U+2029, U+FEFF inside text, noncharacters) and the bidirectional controls that make
//!   text look other than it is are escaped, in double quotes;
//! - literal blocks hold only lines that no editor or reader changes: none ends with a space, starts
//!   with a tab, or holds a carriage return;
//! - floats always have a point and a signed exponent (`1.0e+20`): YAML 1.1 sees a string without.

use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use super::scalar::is_plain_safe;

/// Readers look for the `:` of a simple key in 1024 characters at most. A key longer than this gets the form `? key`.
const LONGEST_SIMPLE_KEY: usize = 128;

/// Writes `value` as canonical YAML, with a line break at the end.
///
/// ```text
/// key: claims.classify
/// spec:
///   version: '1'
///   tags:
///   - a
/// ```
///
/// Depth is not limited here; a document deeper than 64 levels cannot be read
/// back.
pub fn emit(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => mapping(&mut out, map, 0, false),
        Value::Array(items) if !items.is_empty() => sequence(&mut out, items, 0, false),
        // Readers disagree about the indentation of a literal block that is the whole document.
        Value::String(text) if text.contains('\n') => {
            double_quoted(&mut out, text);
            out.push('\n');
        }
        other => {
            scalar(&mut out, other, 0);
            out.push('\n');
        }
    }
    out
}

/// `inline_first`: the first key continues a line (`- a: 1`) instead of starting one.
fn mapping(out: &mut String, map: &Map<String, Value>, indent: usize, inline_first: bool) {
    for (index, (key, value)) in map.iter().enumerate() {
        if index > 0 || !inline_first {
            spaces(out, indent);
        }
        let mut name = String::new();
        one_line(&mut name, key);
        if name.chars().count() > LONGEST_SIMPLE_KEY {
            out.push_str("? ");
            name.push('\n');
            spaces(&mut name, indent);
        }
        out.push_str(&name);
        out.push(':');
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                out.push('\n');
                mapping(out, inner, indent + 2, false);
            }
            Value::Array(items) if !items.is_empty() => {
                out.push('\n');
                sequence(out, items, indent, false);
            }
            other => {
                out.push(' ');
                scalar(out, other, indent);
                out.push('\n');
            }
        }
    }
}

fn sequence(out: &mut String, items: &[Value], indent: usize, inline_first: bool) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 || !inline_first {
            spaces(out, indent);
        }
        out.push_str("- ");
        match item {
            Value::Object(map) if !map.is_empty() => mapping(out, map, indent + 2, true),
            Value::Array(inner) if !inner.is_empty() => sequence(out, inner, indent + 2, true),
            other => {
                scalar(out, other, indent);
                out.push('\n');
            }
        }
    }
}

/// Everything that fits behind `key: ` or `- `, without the line break at its end; `indent` is the
/// column of the key or dash.
fn scalar(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => string(out, text, indent),
        // Collections that are not empty are written by `mapping` and `sequence`.
        Value::Array(_) => out.push_str("[]"),
        Value::Object(_) => out.push_str("{}"),
    }
}

fn number_text(number: &Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        return text;
    };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['+', '-']) { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

fn string(out: &mut String, text: &str, indent: usize) {
    if is_literal_block(text) {
        literal_block(out, text, indent + 2);
    } else {
        one_line(out, text);
    }
}

/// Plain if that is safe, else single quotes, else double quotes with escapes.
fn one_line(out: &mut String, text: &str) {
    if text.chars().any(|c| needs_escape(c) || matches!(c, '\n' | '\t')) {
        double_quoted(out, text);
    } else if is_plain_safe(text) {
        out.push_str(text);
    } else {
        out.push('\'');
        out.push_str(&text.replace('\'', "''"));
        out.push('\'');
    }
}

/// Whether `text` has several lines and every reader and editor leaves a literal block of it alone.
fn is_literal_block(text: &str) -> bool {
    text.contains('\n')
        && !text.chars().any(needs_escape)
        && text.chars().any(|c| c != '\n')
        && text
            .split('\n')
            .all(|line| !line.ends_with([' ', '\t']) && !line.starts_with('\t'))
}

/// `|` with what it needs: an indentation digit when the text does not start with a letter of its
/// first line, `-` when the text has no line break at its end, `+` when it has several.
fn literal_block(out: &mut String, text: &str, indent: usize) {
    out.push('|');
    if text.starts_with([' ', '\n']) {
        out.push('2');
    }
    let body = match text.strip_suffix('\n') {
        None => {
            out.push('-');
            text
        }
        Some(body) => {
            if body.ends_with('\n') {
                out.push('+');
            }
            body
        }
    };
    for line in body.split('\n') {
        out.push('\n');
        if !line.is_empty() {
            spaces(out, indent);
            out.push_str(line);
        }
    }
}

fn double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if needs_escape(c) => escape(out, u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn escape(out: &mut String, code: u32) {
    // Writing to a string cannot fail.
    let _ = match code {
        0..=0xFF => write!(out, "\\x{code:02X}"),
        0x100..=0xFFFF => write!(out, "\\u{code:04X}"),
        _ => write!(out, "\\U{code:08X}"),
    };
}

/// Characters that a reader rejects or takes for a line break, or that hide a part of a text. Line
/// feed and tab are decided by the caller.
fn needs_escape(c: char) -> bool {
    let is_break_elsewhere = matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    let is_control = c.is_control() && c != '\n' && c != '\t';
    let is_bidirectional = matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    // A block of its own, and the last two code points of every plane.
    let is_noncharacter = matches!(c, '\u{FDD0}'..='\u{FDEF}') || u32::from(c) & 0xFFFE == 0xFFFE;
    is_break_elsewhere || is_control || is_bidirectional || is_noncharacter || c == '\u{FEFF}'
}

fn spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}
