//! Results on standard output.

use std::io::{self, ErrorKind, Write};

use super::{Failure, exit};

/// Writes a result to standard output; gives the exit code. A reader that closed the pipe (`| head`) is not a failure.
pub fn print(text: &str) -> Result<u8, Failure> {
    // Not `print!`: it panics when the reader is gone.
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::usage(format!(
            "could not write to standard output: {error}"
        ))),
        _ => Ok(exit::GOOD),
    }
}

/// A JSON document as it is printed: two spaces, a final newline.
pub fn json(document: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(document)
        .map(|text| text + "\n")
        .map_err(|error| Failure::usage(format!("the result cannot be written as JSON: {error}")))
}

/// A JSON text as it is printed, in which every value keeps its digits.
pub(in crate::host) fn indented(json: &str) -> String {
    fn line(text: &mut String, depth: usize) {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
    }
    let (mut text, mut depth) = (String::new(), 0);
    let (mut in_string, mut escaped) = (false, false);
    let mut letters = json.chars().peekable();
    while let Some(letter) = letters.next() {
        if !in_string && letter.is_ascii_whitespace() {
            continue;
        }
        if !in_string && matches!(letter, '}' | ']') {
            depth -= 1;
            line(&mut text, depth);
        }
        text.push(letter);
        match letter {
            _ if in_string => {
                in_string = escaped || letter != '"';
                escaped = !escaped && letter == '\\';
            }
            '"' => in_string = true,
            '{' | '[' => match letters.next_if(|next| matches!(next, '}' | ']')) {
                Some(end) => text.push(end),
                None => {
                    depth += 1;
                    line(&mut text, depth);
                }
            },
            ',' => line(&mut text, depth),
            ':' => text.push(' '),
            _ => {}
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json as value};

    use super::*;

    #[test]
    fn a_text_is_indented_as_a_value_is() {
        let document: Value = value!({
            "a": [], "b": {}, "c": [1, {"d": "e, \\\" {[ \\"}, [[2.5], null, true]], "": {"f:g": -1e300},
        });
        assert_eq!(indented(&document.to_string()), json(&document).unwrap());
        assert_eq!(
            indented(r#"{"n": 340282366920938463463374607431768211455}"#),
            "{\n  \"n\": 340282366920938463463374607431768211455\n}\n"
        );
    }
}
