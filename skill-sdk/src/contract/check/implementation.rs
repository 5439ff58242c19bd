//! How the skill is reached: protocol, endpoint, entrypoint.

use serde_json::{Map, Value};

use super::auth;
use super::contract::{Stage, unknown_keys};
use super::shape::{
    check_endpoint, check_entrypoint, check_tool_name, fits_address, is_endpoint, starts_with_variable,
};
use super::text::{child, kind, shown};
use super::violation::Violation;

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
        Some("local") => match entrypoint {
            Address::Text(text) => found.extend(check_entrypoint(text).err()),
            Address::Absent => found.push(missing(
                "entrypoint",
                "a local implementation needs the function to call",
            )),
            Address::Broken => {}
        },
        Some("http") => match endpoint {
            Address::Text(text) if is_open(text, stage) => {}
            Address::Text(text) => found.extend(check_endpoint(text).err()),
            Address::Absent => found.push(missing(
                "endpoint",
                "an http implementation needs the address to call",
            )),
            Address::Broken => {}
        },
        Some("mcp") => {
            found.extend(mcp_endpoint(&endpoint, stage));
            match entrypoint {
                Address::Text(text) => found.extend(check_tool_name(text).err()),
                Address::Absent => {
                    found.push(missing(
                        "entrypoint",
                        "an mcp implementation needs the name of the tool",
                    ));
                }
                Address::Broken => {}
            }
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
        Some(Value::String(text)) if fits_address(text) => return Address::Text(text),
        Some(Value::String(text)) => format!("it has {} characters", text.chars().count()),
        Some(other) => format!("it is {}", kind(other)),
    };
    let message = format!("`{key}` must be a non-empty string of at most 2000 characters: {problem}");
    // Here the platform names the field without `implementation.`.
    found.push(Violation::invalid(child("/implementation", key), key, message));
    Address::Broken
}

fn missing(key: &str, need: &str) -> Violation {
    let message = format!("{need}, and `{key}` is not there");
    Violation::invalid(
        child("/implementation", key),
        format!("implementation.{key}"),
        message,
    )
}

/// Whether the start of an endpoint is not known yet and need not be.
fn is_open(endpoint: &str, stage: Stage) -> bool {
    stage == Stage::Source && starts_with_variable(endpoint)
}

/// A platform does not look at the endpoint of an mcp implementation, so that a strange one is only warned about.
fn mcp_endpoint(endpoint: &Address<'_>, stage: Stage) -> Option<Violation> {
    let problem = match endpoint {
        Address::Broken => return None,
        Address::Absent => "is missing",
        Address::Text(text) => {
            let stdio = text.strip_prefix("stdio:").is_some_and(|name| !name.is_empty());
            if stdio || is_endpoint(text) || is_open(text, stage) {
                return None;
            }
            "is neither an address nor a server"
        }
    };
    let message = format!(
        "the endpoint of an mcp implementation {problem}: write `http://…`, `https://…` or `stdio:<name>`"
    );
    Some(Violation::invalid("/implementation/endpoint", "implementation.endpoint", message).into_warning())
}

/// A platform stores an address with a user and a password in it; everybody who reads the catalog reads them too.
fn credentials(endpoint: &str) -> Option<Violation> {
    let (_, rest) = endpoint.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let message = "the endpoint holds a user or a password before the `@`: contracts are public, remove them";
    authority.contains('@').then(|| {
        Violation::invalid("/implementation/endpoint", "implementation.endpoint", message).into_warning()
    })
}
