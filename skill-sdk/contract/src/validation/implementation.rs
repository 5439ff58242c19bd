//! How the skill is reached: protocol, endpoint, entrypoint, and who may call. Messages never repeat a value of `auth`.

use serde_json::{Map, Value};

use super::contract::Stage;
use super::violation::{Found, Violation, code, pointer_of};
use crate::rules::{
    MAX_ADDRESS_CHARS, MAX_SCOPES, http_endpoint, is_http_url, local_entrypoint, looks_like_credential,
    mcp_endpoint, mcp_tool, scope,
};
use crate::text::{child, kind, quoted, shown};

const IMPLEMENTATION: &str = "implementation";
const ENDPOINT: &str = "implementation.endpoint";
const ENTRYPOINT: &str = "implementation.entrypoint";
const AUTH: &str = "implementation.auth";
const SCOPES: &str = "implementation.auth.scopes";

/// Parts of the names of fields that hold secrets, in lower case without punctuation.
const SECRET_WORDS: [&str; 6] = [
    "token",
    "apikey",
    "password",
    "secret",
    "authorization",
    "privatekey",
];

pub(super) fn check(value: &Value, stage: Stage, found: &mut Found) {
    let Some(members) = found.object(value, IMPLEMENTATION) else {
        return;
    };
    let known = ["protocol", "endpoint", "entrypoint", "auth"];
    found.unknown_keys(members, &known, IMPLEMENTATION);
    let protocol = members.get("protocol").unwrap_or(&Value::Null);
    if !matches!(protocol.as_str(), Some("local" | "http" | "mcp")) {
        let message = format!(
            "`protocol` is {}: it must be one of local, http, mcp",
            shown(protocol)
        );
        found.invalid_field("implementation.protocol", message);
    }
    let endpoint = address(members, "endpoint", found);
    let entrypoint = address(members, "entrypoint", found);
    match protocol.as_str() {
        Some("local") => required(entrypoint, local_entrypoint, ENTRYPOINT, found),
        Some("http") => {
            let rule = |text: &str| match stage {
                Stage::Publication if !is_http_url(text) => {
                    Err("the endpoint of an http skill starts with `https://` or `http://`".to_owned())
                }
                Stage::Publication => Ok(()),
                Stage::Source => http_endpoint(text),
            };
            required(endpoint, rule, ENDPOINT, found);
        }
        Some("mcp") => {
            // A platform does not look at the endpoint of an mcp implementation, so that a strange one is only warned about.
            if let Ok(endpoint) = endpoint
                && let Err(reason) = mcp_endpoint(endpoint.unwrap_or_default())
            {
                found
                    .0
                    .push(Violation::warning(pointer_of(ENDPOINT), ENDPOINT, reason));
            }
            required(entrypoint, mcp_tool, ENTRYPOINT, found);
        }
        _ => {}
    }
    if let Ok(Some(endpoint)) = endpoint
        && has_user(endpoint)
    {
        let message =
            "the endpoint holds a user or a password before the `@`: contracts are public, remove them";
        found
            .0
            .push(Violation::warning(pointer_of(ENDPOINT), ENDPOINT, message));
    }
    if let Some(auth) = members.get("auth").filter(|value| !value.is_null()) {
        check_auth(auth, found);
    }
}

/// A value that has been reported.
#[derive(Clone, Copy)]
struct Reported;

/// An endpoint or entrypoint, if it is there: a text of an allowed length.
fn address<'a>(
    members: &'a Map<String, Value>,
    key: &'static str,
    found: &mut Found,
) -> Result<Option<&'a str>, Reported> {
    let problem = match members.get(key) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) if text.is_empty() => "it is empty".to_owned(),
        Some(Value::String(text)) if text.chars().nth(MAX_ADDRESS_CHARS).is_none() => return Ok(Some(text)),
        Some(Value::String(text)) => format!("it has {} characters", text.chars().count()),
        Some(other) => format!("it is {}", kind(other)),
    };
    let message =
        format!("`{key}` must be a non-empty string of at most {MAX_ADDRESS_CHARS} characters: {problem}");
    // Here the platform names the field without `implementation.`.
    found.invalid(format!("/implementation/{key}"), key, message);
    Err(Reported)
}

/// An endpoint or entrypoint that must be there and satisfy a rule.
fn required(
    address: Result<Option<&str>, Reported>,
    rule: impl Fn(&str) -> Result<(), String>,
    field: &'static str,
    found: &mut Found,
) {
    match address {
        Ok(Some(text)) => found.rule(rule(text), field),
        Ok(None) => found.invalid_field(field, format!("`{field}` is missing: the protocol needs it")),
        Err(Reported) => {}
    }
}

/// A platform stores a user and a password in an address, and every reader of the catalog can read them.
fn has_user(endpoint: &str) -> bool {
    let rest = endpoint
        .split_once("://")
        .map(|(_, rest)| rest)
        .unwrap_or_default();
    rest.split(['/', '?', '#'])
        .next()
        .unwrap_or_default()
        .contains('@')
}

/// Scopes, and no secrets.
fn check_auth(auth: &Value, found: &mut Found) {
    let Some(members) = found.object(auth, AUTH) else {
        return;
    };
    check_secrets(auth, &pointer_of(AUTH), found);
    let Some(scopes) = members.get("scopes") else {
        return;
    };
    let items = found.array(scopes, SCOPES).map_or(&[][..], Vec::as_slice);
    if items.len() > MAX_SCOPES {
        let message = format!(
            "`{SCOPES}` has {} items, at most {MAX_SCOPES} are allowed",
            items.len()
        );
        found.invalid_field(SCOPES, message);
    }
    for (index, item) in items.iter().enumerate() {
        let rule = match item.as_str() {
            // A text with a credential in it has been reported, and is not shown.
            Some(text) if looks_like_credential(text) => continue,
            Some(text) => scope(text).map_err(|reason| format!("{reason}, not {}", quoted(text))),
            None => Err(format!("a scope must be a string, not {}", kind(item))),
        };
        if let Err(reason) = rule {
            found.invalid(format!("{}/{index}", pointer_of(SCOPES)), SCOPES, reason);
        }
    }
}

/// Reports every field that is called like a secret and every text that looks like one, in document order.
fn check_secrets(value: &Value, pointer: &str, found: &mut Found) {
    match value {
        Value::String(text) if looks_like_credential(text) => found
            .0
            .push(secret(pointer, "this value looks like a credential")),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check_secrets(item, &format!("{pointer}/{index}"), found);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let pointer = child(pointer, key);
                if is_secret_name(key) {
                    let what = format!("the name {} says that a secret is stored here", quoted(key));
                    found.0.push(secret(&pointer, &what));
                } else {
                    check_secrets(member, &pointer, found);
                }
            }
        }
        _ => {}
    }
}

fn secret(pointer: &str, what: &str) -> Violation {
    let field = if pointer.starts_with(&pointer_of(SCOPES)) {
        SCOPES
    } else {
        AUTH
    };
    let message =
        format!("{what}: a contract is public, put the secret into a vault and its name into `secretRef`");
    Violation::error(code::SECRET_MATERIAL_REJECTED, pointer, field, message)
}

/// Whether a field with this name holds a secret, not the place of one.
fn is_secret_name(name: &str) -> bool {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    plain != "secretref" && SECRET_WORDS.iter().any(|word| plain.contains(word))
}
