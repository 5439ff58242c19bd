//! The rules of inputs that callers over MCP repeat in a header: `x-mcp-header` in a schema.
//!
//! A client drops a tool whose annotations break one of them, without a word to its author.

use std::collections::BTreeSet;

use serde_json::Value;

use super::violation::{Found, Violation, code};
use crate::text::quoted;
use crate::tree::{Role, places};

/// The keyword.
const HEADER_KEYWORD: &str = "x-mcp-header";

/// Reports the annotations in the schema of inputs that a client does not take.
pub(super) fn check(inputs: &Value, found: &mut Found) {
    let mut names = BTreeSet::new();
    for place in places(inputs, "") {
        let Some(header) = place
            .value
            .get(HEADER_KEYWORD)
            .filter(|_| place.role == Role::Schema)
        else {
            continue;
        };
        let mut report = |problem: &str| {
            let pointer = format!("/inputs{}/{HEADER_KEYWORD}", place.pointer);
            let message = format!("`{HEADER_KEYWORD}` {problem}");
            found.0.push(Violation::error(
                code::INVALID_MCP_HEADER,
                pointer,
                "inputs",
                message,
            ));
        };
        if !leads_through_fields(&place.pointer) {
            report(
                "must mark a field of the input object, or of an object in it: not a list, a variant or a shared type",
            );
            continue;
        }
        let Some(name) = header.as_str() else {
            report("must be a string: the name of the header behind `Mcp-Param-`");
            continue;
        };
        if name.is_empty() || !name.bytes().all(is_token) {
            let name = quoted(name);
            report(&format!(
                "is {name}, which cannot name a header: use letters, digits and `-`"
            ));
        } else if !names.insert(name.to_ascii_lowercase()) {
            let name = quoted(name);
            report(&format!(
                "names {name} twice: capitals make no difference, use another name"
            ));
        }
        if !is_plain(place.value.get("type")) {
            report("must mark a string, an integer or a boolean: only these can be sent in a header");
        }
    }
}

/// Whether only fields of objects lead to a place: `/properties/NAME` once or several times.
fn leads_through_fields(pointer: &str) -> bool {
    let steps: Vec<_> = pointer.split('/').skip(1).collect();
    !steps.is_empty() && steps.chunks(2).all(|steps| matches!(steps, ["properties", _]))
}

/// Whether the type is one that headers can hold; it may also allow null, which is an absent header.
fn is_plain(kind: Option<&Value>) -> bool {
    let plain = |kind: &Value| matches!(kind.as_str(), Some("string" | "integer" | "boolean"));
    match kind {
        Some(Value::Array(kinds)) => {
            let mut others = kinds.iter().filter(|kind| *kind != "null");
            others.next().is_some_and(plain) && others.next().is_none()
        }
        Some(kind) => plain(kind),
        None => false,
    }
}

/// A character of a name in HTTP.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
