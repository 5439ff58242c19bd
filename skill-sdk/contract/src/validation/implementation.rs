//! How the skill is reached: protocol, endpoint, entrypoint.

use serde_json::{Map, Value};

use super::auth;
use super::contract::{Stage, broken, unknown_keys};
use super::violation::Violation;
use crate::rules::{MAX_ADDRESS_CHARS, http_endpoint, is_http_url, local_entrypoint, mcp_tool};
use crate::text::{child, kind, shown};

const ENDPOINT: (&str, &str) = ("/implementation/endpoint", "implementation.endpoint");
const ENTRYPOINT: (&str, &str) = ("/implementation/entrypoint", "implementation.entrypoint");

const KEYS: [&str; 4] = ["protocol", "endpoint", "entrypoint", "auth"];

pub(super) fn check(value: &Value, stage: Stage, found: &mut Vec<Violation>) {
    let Some(members) = value.as_object() else {
        let message = format!("`implementation` must be an object, not {}", kind(value));
        found.push(Violation::invalid("/implementation", "implementation", message));
        return;
    };
    unknown_keys(
        members,
        &KEYS,
        "/implementation",
        "implementation",
        "an implementation",
        found,
    );
    let protocol = members.get("protocol").unwrap_or(&Value::Null);
    let known = matches!(protocol.as_str(), Some("local" | "http" | "mcp"));
    if !known {
        let message = format!(
            "`protocol` is {}: it must be one of local, http, mcp",
            shown(protocol)
        );
        found.push(Violation::invalid(
            "/implementation/protocol",
            "implementation.protocol",
            message,
        ));
    }
    let endpoint = address(members, "endpoint", found);
    let entrypoint = address(members, "entrypoint", found);
    match protocol.as_str() {
        Some("local") => {
            let need = "a local implementation needs the function to call";
            found.extend(required(&entrypoint, local_entrypoint, ENTRYPOINT, need));
        }
        Some("http") => {
            let need = "an http implementation needs the address to call";
            let rule = |text: &str| match stage {
                Stage::Publication if !is_http_url(text) => {
                    Err("the endpoint of an http skill starts with `https://` or `http://`".to_owned())
                }
                Stage::Publication => Ok(()),
                Stage::Source => http_endpoint(text),
            };
            found.extend(required(&endpoint, rule, ENDPOINT, need));
        }
        Some("mcp") => {
            found.extend(mcp_endpoint(&endpoint, stage));
            let need = "an mcp implementation needs the name of the tool";
            found.extend(required(&entrypoint, mcp_tool, ENTRYPOINT, need));
        }
        _ => {}
    }
    if let Address::Text(text) = endpoint {
        found.extend(credentials(text));
    }
    auth::check(members.get("auth"), found);
}

/// An endpoint or entrypoint: nothing (absent or null), a text of an allowed length, or something already reported.
enum Address<'a> {
    Absent,
    Text(&'a str),
    Broken,
}

fn address<'a>(
    members: &'a Map<String, Value>,
    key: &'static str,
    found: &mut Vec<Violation>,
) -> Address<'a> {
    let problem = match members.get(key) {
        None | Some(Value::Null) => return Address::Absent,
        Some(Value::String(text)) if text.is_empty() => "it is empty".to_owned(),
        Some(Value::String(text)) if text.chars().nth(MAX_ADDRESS_CHARS).is_none() => {
            return Address::Text(text);
        }
        Some(Value::String(text)) => format!("it has {} characters", text.chars().count()),
        Some(other) => format!("it is {}", kind(other)),
    };
    let message = format!("`{key}` must be a non-empty string of at most 2000 characters: {problem}");
    // Here the platform names the field without `implementation.`.
    found.push(Violation::invalid(child("/implementation", key), key, message));
    Address::Broken
}

/// An endpoint or entrypoint that must be there and satisfy a rule.
fn required(
    address: &Address<'_>,
    rule: impl Fn(&str) -> Result<(), String>,
    (pointer, field): (&'static str, &'static str),
    need: &str,
) -> Option<Violation> {
    match address {
        Address::Broken => None,
        Address::Text(text) => broken(rule(text), pointer, field),
        Address::Absent => {
            let (_, key) = field.split_once('.').unwrap_or_default();
            broken(Err(format!("{need}, and `{key}` is not there")), pointer, field)
        }
    }
}

/// A platform does not look at the endpoint of an mcp implementation, so that a strange one is only warned about.
fn mcp_endpoint(endpoint: &Address<'_>, stage: Stage) -> Option<Violation> {
    let problem = match endpoint {
        Address::Broken => return None,
        Address::Absent => "is missing",
        Address::Text(text) => {
            let stdio = text.strip_prefix("stdio:").is_some_and(|name| !name.is_empty());
            let open = stage == Stage::Source && text.starts_with("${") && http_endpoint(text).is_ok();
            if stdio || is_http_url(text) || open {
                return None;
            }
            "is neither an address nor a server"
        }
    };
    let message = format!(
        "the endpoint of an mcp implementation {problem}: write `http://…`, `https://…` or `stdio:<name>`"
    );
    Some(Violation::invalid(ENDPOINT.0, ENDPOINT.1, message).into_warning())
}

/// A platform stores an address with a user and a password in it; everybody who reads the catalog reads them too.
fn credentials(endpoint: &str) -> Option<Violation> {
    let (_, rest) = endpoint.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let message = "the endpoint holds a user or a password before the `@`: contracts are public, remove them";
    authority
        .contains('@')
        .then(|| Violation::invalid(ENDPOINT.0, ENDPOINT.1, message).into_warning())
}
