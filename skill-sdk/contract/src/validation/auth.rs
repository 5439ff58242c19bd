//! `implementation.auth`: scopes, and no secrets. Messages never repeat a value of it.

use serde_json::Value;

use super::violation::{Violation, code};
use crate::rules::{MAX_SCOPES, looks_like_credential, scope};
use crate::text::{child, kind, quoted};

const POINTER: &str = "/implementation/auth";
const FIELD: &str = "implementation.auth";
const SCOPES_POINTER: &str = "/implementation/auth/scopes";
const SCOPES_FIELD: &str = "implementation.auth.scopes";

/// What makes the name of a member the name of a secret, in lower case without punctuation.
const SECRET_WORDS: [&str; 6] = [
    "token",
    "apikey",
    "password",
    "secret",
    "authorization",
    "privatekey",
];

pub(super) fn check(value: Option<&Value>, found: &mut Vec<Violation>) {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return;
    };
    let Some(members) = value.as_object() else {
        let message = format!(
            "`auth` must be an object {{audience, scopes}}, not {}",
            kind(value)
        );
        found.push(Violation::invalid(POINTER, FIELD, message));
        return;
    };
    check_secrets(value, found);
    if let Some(scopes) = members.get("scopes") {
        check_scopes(scopes, found);
    }
}

/// Reports every member that is called like a secret and every text that looks like one, in document order.
fn check_secrets(auth: &Value, found: &mut Vec<Violation>) {
    let mut reject = |pointer: String, what: String| {
        let field = if pointer.starts_with(SCOPES_POINTER) {
            SCOPES_FIELD
        } else {
            FIELD
        };
        let message = format!(
            "{what}: a contract is public, put the secret into a vault and its name into `secretRef`"
        );
        found.push(Violation::error(
            code::SECRET_MATERIAL_REJECTED,
            pointer,
            field,
            message,
        ));
    };
    let mut open = vec![(POINTER.to_owned(), auth)];
    while let Some((pointer, value)) = open.pop() {
        let first = open.len();
        match value {
            Value::String(text) if looks_like_credential(text) => {
                reject(pointer, "this value looks like a credential".to_owned());
            }
            Value::Array(items) => {
                open.extend(
                    items
                        .iter()
                        .enumerate()
                        .map(|(index, item)| (format!("{pointer}/{index}"), item)),
                );
            }
            Value::Object(members) => {
                for (key, member) in members {
                    let place = child(&pointer, key);
                    if is_secret_name(key) {
                        reject(
                            place,
                            format!("the name {} says that a secret is stored here", quoted(key)),
                        );
                    } else {
                        open.push((place, member));
                    }
                }
            }
            _ => {}
        }
        if let Some(children) = open.get_mut(first..) {
            children.reverse();
        }
    }
}

fn check_scopes(scopes: &Value, found: &mut Vec<Violation>) {
    let mut broken =
        |pointer: String, message: String| found.push(Violation::invalid(pointer, SCOPES_FIELD, message));
    let Some(items) = scopes.as_array() else {
        let message = format!(
            "`auth.scopes` must be a list of at most {MAX_SCOPES} strings, not {}",
            kind(scopes)
        );
        broken(SCOPES_POINTER.to_owned(), message);
        return;
    };
    if items.len() > MAX_SCOPES {
        let message = format!(
            "`auth.scopes` has {} entries, at most {MAX_SCOPES} are allowed",
            items.len()
        );
        broken(SCOPES_POINTER.to_owned(), message);
    }
    for (index, item) in items.iter().enumerate() {
        let reason = match item.as_str() {
            // A text with a credential in it has been reported, and is not shown.
            Some(text) if looks_like_credential(text) => continue,
            Some(text) => match scope(text) {
                Ok(()) => continue,
                Err(reason) => format!("{reason}, not {}", quoted(text)),
            },
            None => format!("a scope must be a string, not {}", kind(item)),
        };
        broken(format!("{SCOPES_POINTER}/{index}"), reason);
    }
}

/// Whether a member with this name holds a secret rather than says where one is.
fn is_secret_name(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    plain != "secretref" && SECRET_WORDS.iter().any(|word| plain.contains(word))
}
