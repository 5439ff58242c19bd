//! Limits of a JSON document that do not depend on its meaning: bytes, levels, nodes.

use serde_json::Value;

use super::violation::{Violation, code};

/// The largest contract, in bytes of compact JSON (no spaces) with every character outside printable ASCII escaped: a
/// Cyrillic letter is 6 bytes, an emoji 12.
pub(super) const MAX_CONTRACT_BYTES: usize = 64 * 1024;
/// The deepest document. The document itself is level 1, and what a container holds is one level further, scalars too.
/// Platforms are known to accept 20 levels of containers and to reject 22; this is the strictest counting that agrees.
pub(super) const MAX_LEVELS: usize = 20;
/// The largest number of values: containers and scalars, the document itself included. Keys are not values.
pub(super) const MAX_NODES: usize = 5000;

/// The bytes, levels and nodes of a document. Takes time and memory in proportion to it, never stack.
pub(super) fn measure(document: &Value) -> [usize; 3] {
    let (mut bytes, mut levels, mut nodes) = (0, 0, 0);
    let mut open = vec![(document, 1)];
    while let Some((value, level)) = open.pop() {
        nodes += 1;
        levels = levels.max(level);
        bytes += match value {
            Value::Null | Value::Bool(true) => 4,
            Value::Bool(false) => 5,
            Value::Number(number) => number.to_string().len(),
            Value::String(text) => escaped_len(text),
            Value::Array(items) => {
                open.extend(items.iter().map(|item| (item, level + 1)));
                2 + items.len().saturating_sub(1)
            }
            Value::Object(members) => {
                open.extend(members.values().map(|member| (member, level + 1)));
                let keys: usize = members.keys().map(|key| escaped_len(key) + 1).sum();
                2 + members.len().saturating_sub(1) + keys
            }
        };
    }
    [bytes, levels, nodes]
}

/// The length of a string in ASCII-escaped JSON, quotes included.
fn escaped_len(text: &str) -> usize {
    let chars = text.chars().map(|c| match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        ' '..='~' => 1,
        // Beyond 16 bits a character is written as two escapes.
        other => 6 * other.len_utf16(),
    });
    2 + chars.sum::<usize>()
}

/// The limits of a contract: bytes, then levels, then nodes.
pub(super) fn check(contract: &Value) -> Vec<Violation> {
    let [bytes, levels, nodes] = measure(contract);
    let limits = [
        (
            code::PAYLOAD_TOO_LARGE,
            bytes,
            MAX_CONTRACT_BYTES,
            "bytes as ASCII-escaped JSON: shorten descriptions, defaults and enumerations in the schemas",
        ),
        (
            code::PAYLOAD_TOO_DEEP,
            levels,
            MAX_LEVELS,
            "levels: give nested types a name of their own, so that they move to `$defs`",
        ),
        (
            code::INVALID_DOCUMENT,
            nodes,
            MAX_NODES,
            "JSON values: share repeated parts of the schemas through `$defs`",
        ),
    ];
    let broken = limits.into_iter().filter(|(_, is, most, _)| is > most);
    let violation = |(code, is, most, advice)| {
        let message = format!("the contract has {is}, but may have at most {most} {advice}");
        Violation::error(code, "", "contract", message)
    };
    broken.map(violation).collect()
}
