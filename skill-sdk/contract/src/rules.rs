//! The rules of the small texts and numbers of a contract, each as the reason why a value breaks it.
//!
//! No dependencies: the macros check the literals of an attribute with them, [`validate`](crate::validate) whole
//! contracts.

use std::ops::RangeInclusive;

pub use crate::credential::looks_like_credential;

/// The timeout of a call, in seconds.
pub const TIMEOUT_SECONDS: RangeInclusive<u32> = 1..=3600;
/// The attempts of a call.
pub const ATTEMPTS: RangeInclusive<u32> = 1..=10;
/// The pause between two attempts, in seconds.
pub const BACKOFF_SECONDS: RangeInclusive<u32> = 0..=3600;
/// The largest number of `auth.scopes`.
pub const MAX_SCOPES: usize = 20;
/// The longest endpoint or entrypoint, in characters.
pub const MAX_ADDRESS_CHARS: usize = 2000;

/// Why `name` cannot be the name of a skill.
pub fn name(name: &str) -> Result<(), String> {
    part_of_reference(name, "name of a skill", 200)
}

/// Why `version` cannot be the version of a skill.
pub fn version(version: &str) -> Result<(), String> {
    part_of_reference(version, "version of a skill", 50)
}

fn part_of_reference(text: &str, what: &str, longest: usize) -> Result<(), String> {
    if text.is_empty() {
        return Err(format!("the {what} is empty"));
    }
    // The separators of information (file, group, record, unit) count as whitespace for the platform.
    if let Some(bad) = text
        .chars()
        .find(|c| matches!(c, '@' | '/' | '\u{1c}'..='\u{1f}') || c.is_whitespace())
    {
        return Err(format!(
            "the {what} holds {bad:?}; it may hold anything but `@`, `/` and white space"
        ));
    }
    at_most(text, what, longest)
}

fn at_most(text: &str, what: &str, longest: usize) -> Result<(), String> {
    match text.chars().count() {
        length if length > longest => Err(format!(
            "the {what} has {length} characters; at most {longest} are allowed"
        )),
        _ => Ok(()),
    }
}

/// Why `name` does not look like a permission. Whether the platform knows it is another rule.
pub fn permission(name: &str) -> Result<(), String> {
    let word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    // `admin` is the one permission of the platform without a dot.
    if name == "admin" || (name.contains('.') && name.split('.').all(word)) {
        return Ok(());
    }
    Err(format!(
        "`{}` is not a permission; permissions are lower case words joined by dots, such as `tasks.read`",
        short(name).escape_debug()
    ))
}

/// A text as a message shows it: at most 60 characters.
pub(crate) fn short(text: &str) -> String {
    match text.char_indices().nth(60) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Whether `endpoint` is an address over HTTP.
pub fn is_http_url(endpoint: &str) -> bool {
    endpoint.starts_with("http://") || endpoint.starts_with("https://")
}

/// Why `endpoint` cannot be the address of an HTTP skill. A part in `${…}` is filled in before publication.
pub fn http_endpoint(endpoint: &str) -> Result<(), String> {
    let known = before_variable(endpoint)?;
    if is_http_url(known) || (known.is_empty() && !endpoint.is_empty()) {
        return Ok(());
    }
    Err(
        "the endpoint of an http skill starts with `https://`, `http://` or a `${VARIABLE}` that holds one"
            .into(),
    )
}

/// Why `endpoint` cannot be the address of an MCP server.
pub fn mcp_endpoint(endpoint: &str) -> Result<(), String> {
    let known = before_variable(endpoint)?;
    match known.split_once(':').map(|(scheme, _)| scheme) {
        Some("stdio") if endpoint.len() == "stdio:".len() => {
            Err("`stdio:` is followed by the name of the server, such as `stdio:acme`".into())
        }
        Some(scheme) if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) => Ok(()),
        // The variable holds the scheme, and then all of it.
        None if known.is_empty() => Ok(()),
        _ => Err("the endpoint of an mcp skill is a URL or `stdio:NAME`".into()),
    }
}

/// The part of an endpoint before its first `${`.
fn before_variable(endpoint: &str) -> Result<&str, String> {
    if endpoint.is_empty() {
        return Err("the endpoint is empty".into());
    }
    at_most(endpoint, "endpoint", MAX_ADDRESS_CHARS)?;
    let Some((known, rest)) = endpoint.split_once("${") else {
        return Ok(endpoint);
    };
    let Some((variable, _)) = rest.split_once('}') else {
        return Err("the endpoint has a `${` without its `}`".into());
    };
    // After a scheme, `${…}` may also be ordinary text.
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_variable = !variable.starts_with(|c: char| c.is_ascii_digit()) && variable.chars().all(is_word);
    if known.is_empty() && (variable.is_empty() || !is_variable) {
        return Err(format!(
            "`${{{}}}` is not a variable; its name must have only `A-Z a-z 0-9 _` and not start with a digit",
            short(variable).escape_debug()
        ));
    }
    Ok(known)
}

/// Why `entrypoint` cannot name a local function.
pub fn local_entrypoint(entrypoint: &str) -> Result<(), String> {
    at_most(entrypoint, "entrypoint", MAX_ADDRESS_CHARS)?;
    let word = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    match entrypoint.split_once(':') {
        Some((module, function)) if word(function) && module.split('.').all(word) => Ok(()),
        _ => Err(
            "the entrypoint of a local skill is `module.path:function`, such as `acme_skills.reports:build`"
                .into(),
        ),
    }
}

/// Why `tool` cannot name a tool of an MCP server.
pub fn mcp_tool(tool: &str) -> Result<(), String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    match tool.as_bytes() {
        [first, rest @ ..]
            if plain(*first) && rest.len() < 200 && rest.iter().all(|b| plain(*b) || b".-/".contains(b)) =>
        {
            Ok(())
        }
        _ => Err("the name of an MCP tool has 1 to 200 of `A-Z a-z 0-9 _ . - /` and starts with a letter, digit or `_`"
            .into()),
    }
}

/// Why `scope` cannot be asked for.
pub fn scope(scope: &str) -> Result<(), String> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_.:*/-".contains(&b);
    if scope.is_empty() || scope.len() > 200 || !scope.bytes().all(allowed) {
        return Err("a scope has 1 to 200 of `A-Z a-z 0-9 _ . : * / -`".into());
    }
    Ok(())
}

/// Why a skill cannot be tried so often: a repeated external write without a key is a second external effect.
pub fn safe_retries(side_effects: &str, idempotency: &str, attempts: u64) -> Result<(), String> {
    if side_effects != "external_write" || idempotency != "none" || attempts <= 1 {
        return Ok(());
    }
    Err(
        "an `external_write` skill without `idempotency` may not be retried: a retry would be a second external \
         effect; set `idempotency` to `natural` or `required`, or the attempts to 1"
            .into(),
    )
}
