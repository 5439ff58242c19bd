//! The publication rules that a literal can break, as the reasons why it does.
//!
//! The library holds the same rules for the whole contract; here they are early and point at the literal.

use crate::credential::looks_like_credential;

/// Why `name` cannot be the name of a skill.
pub(crate) fn name(name: &str) -> Result<(), String> {
    part(name, "name of a skill", 200)
}

/// Why `version` cannot be the version of a skill.
pub(crate) fn version(version: &str) -> Result<(), String> {
    part(version, "version of a skill", 50)
}

fn part(text: &str, what: &str, longest: usize) -> Result<(), String> {
    if text.is_empty() {
        return Err(format!("the {what} is empty"));
    }
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

/// Why `name` does not look like a permission. Whether the platform knows it is checked when it is published.
pub(crate) fn permission(name: &str) -> Result<(), String> {
    let word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    // `admin` is the one permission of the platform without a dot.
    if name == "admin" || (name.contains('.') && name.split('.').all(word)) {
        return Ok(());
    }
    Err(format!(
        "`{name}` is not a permission; permissions are lower case words joined by dots, such as `tasks.read`"
    ))
}

/// Why `endpoint` cannot be the address of an HTTP skill. A part in `${…}` is filled in later.
pub(crate) fn http_endpoint(endpoint: &str) -> Result<(), String> {
    let known = endpoint_text(endpoint)?;
    let fits = ["https://", "http://"]
        .iter()
        .any(|scheme| known.starts_with(scheme));
    if fits || (known.is_empty() && endpoint.len() > known.len()) {
        return Ok(());
    }
    Err(
        "the endpoint of an http skill starts with `https://`, `http://` or a `${VARIABLE}` that holds one"
            .into(),
    )
}

/// Why `endpoint` cannot be the address of an MCP server.
pub(crate) fn mcp_endpoint(endpoint: &str) -> Result<(), String> {
    let known = endpoint_text(endpoint)?;
    let scheme = known.split_once(':').map(|(scheme, _)| scheme);
    match scheme {
        Some("stdio") if endpoint.len() == "stdio:".len() => {
            Err("`stdio:` is followed by the name of the server, such as `stdio:acme`".into())
        }
        Some(scheme) if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) => Ok(()),
        // The variable holds the scheme, and then all of it.
        None if known.is_empty() && endpoint.len() > known.len() => Ok(()),
        _ => Err("the endpoint of an mcp skill is a URL or `stdio:NAME`".into()),
    }
}

/// The part of an endpoint before its first `${`.
fn endpoint_text(endpoint: &str) -> Result<&str, String> {
    if endpoint.is_empty() {
        return Err("the endpoint is empty".into());
    }
    at_most(endpoint, "endpoint", 2000)?;
    let Some((known, rest)) = endpoint.split_once("${") else {
        return Ok(endpoint);
    };
    let Some((variable, _)) = rest.split_once('}') else {
        return Err("the endpoint has a `${` without its `}`".into());
    };
    // Behind a scheme, what is no variable is a text like any other.
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_variable = !variable.starts_with(|c: char| c.is_ascii_digit()) && variable.chars().all(is_word);
    if known.is_empty() && (variable.is_empty() || !is_variable) {
        return Err(format!(
            "`${{{variable}}}` is no variable; its name has `A-Z a-z 0-9 _` and does not start with a digit"
        ));
    }
    Ok(known)
}

/// Why `entrypoint` cannot name a local function.
pub(crate) fn local_entrypoint(entrypoint: &str) -> Result<(), String> {
    at_most(entrypoint, "entrypoint", 2000)?;
    let word = |part: &str| {
        let mut letters = part.chars();
        letters
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
            && letters.all(|c| c.is_alphanumeric() || c == '_')
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
pub(crate) fn mcp_tool(tool: &str) -> Result<(), String> {
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
pub(crate) fn scope(scope: &str) -> Result<(), String> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_.:*/-".contains(&b);
    if scope.is_empty() || scope.len() > 200 || !scope.bytes().all(allowed) {
        return Err("a scope has 1 to 200 of `A-Z a-z 0-9 _ . : * / -`".into());
    }
    no_secret(scope)
}

/// Why `audience` cannot be asked for.
pub(crate) fn audience(audience: &str) -> Result<(), String> {
    filled(audience, "audience")?;
    no_secret(audience)
}

/// Refuses what has the form of a well-known credential: a contract is published.
fn no_secret(text: &str) -> Result<(), String> {
    if looks_like_credential(text) {
        return Err(
            "this looks like a secret, and a contract is published: keep it in the host's secrets".into(),
        );
    }
    Ok(())
}

/// Refuses an empty text, or one of white space only.
pub(crate) fn filled(text: &str, what: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err(format!("the {what} is empty"))
    } else {
        Ok(())
    }
}

/// Why `name` cannot be the name of a secret.
pub(crate) fn secret(name: &str) -> Result<(), String> {
    filled(name, "name of a secret")?;
    if name.contains(['/', '\\', '\0']) || name.contains("..") {
        return Err(format!(
            "`{name}` cannot name a secret; `/`, `\\`, `..` and NUL would leave the secrets directory"
        ));
    }
    match name {
        "agent-pat" => Err("`agent-pat` is the host's own secret; no skill may read it".into()),
        _ => Ok(()),
    }
}

/// Why `name` cannot be the name of an environment variable.
pub(crate) fn variable(name: &str) -> Result<(), String> {
    filled(name, "name of a parameter")?;
    match name
        .chars()
        .find(|c| matches!(c, '=' | '\0') || c.is_whitespace())
    {
        Some(bad) => Err(format!(
            "the name of a parameter holds {bad:?}; it is an environment variable, such as `HELPDESK_URL`"
        )),
        None => Ok(()),
    }
}

/// Why `host` is not an address that a skill connects to.
pub(crate) fn host(host: &str) -> Result<(), String> {
    filled(host, "host")?;
    if host.contains("://") || host.contains(|c: char| matches!(c, '/' | '@') || c.is_whitespace()) {
        return Err(format!(
            "`{host}` is not a host; write `host` or `host:port`, such as `api.example.com:443`"
        ));
    }
    let port = match host.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') || name.ends_with(']') => port,
        _ => return Ok(()),
    };
    match port.parse::<u16>() {
        Err(_) | Ok(0) if !port.contains("${") => {
            Err(format!("`{port}` is not a port; ports are 1 to 65535"))
        }
        _ => Ok(()),
    }
}

/// Why `code` cannot be the code of a failure.
pub(crate) fn failure_code(code: &str) -> Result<(), String> {
    let start = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    match code.as_bytes() {
        [first, rest @ ..]
            if start(*first) && rest.len() < 100 && rest.iter().all(|b| start(*b) || b"_.-".contains(b)) =>
        {
            Ok(())
        }
        _ => Err(format!(
            "`{code}` is not a failure code; codes have 1 to 100 of `a-z 0-9 _ . -` and start with a letter or digit"
        )),
    }
}
